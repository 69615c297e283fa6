//! Driver functions newer or older than those in `cust`, called through the exported C functions as foreign programs do.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod batches;
mod contexts;
#[cfg(target_os = "linux")]
mod external;
mod launch_state;
mod libraries;
mod linking;
mod managed;
mod pointers;
mod resources;
mod streams;
mod virtual_memory;

use std::ffi::CStr;
use std::ptr::null_mut;

use cuda_driver::types::{CUcontext, CUdeviceptr, CUlibrary};
use support::{INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED};

/// A kernel that adds `factor` times `x` to `y`.
const SAXPY: &CStr = {
    let text = concat!(include_str!("../ptx/saxpy.ptx"), "\0");
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a NUL in the text"),
    }
};

/// A context on the simulator, current in this thread until it is dropped.
struct OwnContext(CUcontext);

impl OwnContext {
    fn new() -> Self {
        support::start();
        let mut context = null_mut();
        calls! { cuCtxCreate_v2(&mut context, 0, 0); }
        Self(context)
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        calls! { cuCtxDestroy_v2(self.0); }
    }
}

/// Allocates device memory with these numbers.
fn floats(values: &[f32]) -> CUdeviceptr {
    let address = support::allocate(size_of_val(values));
    calls! { cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)); }
    address
}

/// Returns the numbers in device memory.
fn read(address: CUdeviceptr, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    let bytes = size_of_val(values.as_slice());
    calls! { cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, bytes); }
    values
}

/// Loads a file as a library, without options.
fn library_from_file(path: &CStr) -> Result<CUlibrary, i32> {
    let (mut library, options, none) = (null_mut(), null_mut(), null_mut());
    let path = path.as_ptr();
    let code = code!(cuLibraryLoadFromFile(
        &mut library,
        path,
        options,
        none,
        0,
        options,
        none,
        0
    ));
    support::result(code, library)
}
