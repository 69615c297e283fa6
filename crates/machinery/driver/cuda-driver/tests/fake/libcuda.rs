//! A fake NVIDIA driver library for the tests of `backend.rs`: an old version with few functions. `FAKE_CUDA`
//! selects its behaviour.

use std::ffi::{c_char, c_int, c_uint};

fn behaves(behaviour: &str) -> bool {
    std::env::var("FAKE_CUDA").is_ok_and(|value| value == behaviour)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> c_int {
    if behaves("stub") { 34 } else { 0 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: the caller passes a writable pointer, as the C function requires.
    unsafe { *count = if behaves("empty") { 0 } else { 1 } };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    // SAFETY: the caller passes a writable pointer, as the C function requires.
    unsafe { *device = ordinal };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, _len: c_int, _device: c_int) -> c_int {
    // SAFETY: the caller's buffer is longer than this name.
    unsafe { name.copy_from_nonoverlapping(c"Fake GPU".as_ptr(), 9) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller passes a writable pointer, as the C function requires.
    unsafe { *version = 9020 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: c_int, name: *mut *const c_char) -> c_int {
    // SAFETY: the strings are NUL-terminated.
    unsafe {
        *name = match error {
            34 => c"CUDA_ERROR_STUB_LIBRARY".as_ptr(),
            _ => c"CUDA_ERROR_FAKE".as_ptr(),
        };
    }
    0
}
