//! Driver functions newer than those in `cust`, called through the exported C functions as foreign programs do.

mod contexts;
mod libraries;
mod linking;
mod managed;
mod pointers;
mod streams;
mod virtual_memory;

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

/// A context on the simulator, current in this thread until it is dropped.
struct OwnContext(CUcontext);

impl OwnContext {
    fn new() -> Self {
        static FORCED: Once = Once::new();
        // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the
        // environment takes a lock.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        let mut context = null_mut();
        // SAFETY: `context` is writable.
        unsafe {
            assert_eq!(cuInit(0), 0);
            assert_eq!(cuCtxCreate_v2(&mut context, 0, 0), 0);
        }
        Self(context)
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        // SAFETY: `self.0` is an opaque handle that the driver looks up, never dereferences.
        assert_eq!(unsafe { cuCtxDestroy_v2(self.0) }, 0);
    }
}

/// Allocates device memory with these numbers.
fn floats(values: &[f32]) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: `values` has as many bytes as are allocated and copied.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, size_of_val(values)), 0);
        assert_eq!(
            cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)),
            0
        );
    }
    address
}

/// Returns the numbers in device memory.
fn read(address: CUdeviceptr, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    // SAFETY: `values` is writable; `c_void`, `address` and `f32` are handles or addresses that the driver
    // looks up, never dereferences.
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
