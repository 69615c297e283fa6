//! Functions of the driver that came after those which `cust` knows, as programs call them that nobody here has
//! written. The functions are called by what C calls.

mod contexts;
mod libraries;
mod linking;
mod managed;
mod mapping;
mod pointers;
mod streams;

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Once;

use cuda_driver::functions::*;
use cust::sys::{CUcontext, CUdeviceptr};

/// A kernel that adds `factor` times `x` to `y`.
const SAXPY: &CStr = {
    let text = concat!(include_str!("../ptx/saxpy.ptx"), "\0");
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a NUL in the text"),
    }
};

const INVALID_VALUE: i32 = 1;
const INVALID_CONTEXT: i32 = 201;
const INVALID_HANDLE: i32 = 400;
const NOT_FOUND: i32 = 500;
const NOT_SUPPORTED: i32 = 801;

/// A context of the simulator, current in this thread until it is dropped.
struct Own(CUcontext);

impl Own {
    fn new() -> Self {
        static FORCED: Once = Once::new();
        // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
        // environment waits.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        let mut context = null_mut();
        // SAFETY: a handle to write to.
        unsafe {
            assert_eq!(cuInit(0), 0);
            assert_eq!(cuCtxCreate_v2(&mut context, 0, 0), 0);
        }
        Self(context)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: it was created above.
        assert_eq!(unsafe { cuCtxDestroy_v2(self.0) }, 0);
    }
}

/// Device memory with these numbers.
fn floats(values: &[f32]) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: as many bytes as are allocated and there are.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, size_of_val(values)), 0);
        assert_eq!(
            cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)),
            0
        );
    }
    address
}

/// The numbers in device memory.
fn read(address: CUdeviceptr, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    // SAFETY: as many bytes as there are.
    let code = unsafe {
        cuMemcpyDtoH_v2(
            values.as_mut_ptr().cast::<c_void>(),
            address,
            count * size_of::<f32>(),
        )
    };
    assert_eq!(code, 0);
    values
}
