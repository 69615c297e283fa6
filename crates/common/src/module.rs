//! Loading PTX, with the compiler's words when it refuses.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use anyhow::{Context as _, Error, Result};
use cust::module::Module;
use cust::sys;

/// Bytes for the compiler's message; longer ones are cut off by the driver.
const LOG_BYTES: usize = 16 * 1024;

/// Loads a module: `Module::from_ptx`, and where that fails the reason.
///
/// # Errors
///
/// Where the PTX does not compile or does not fit the GPU. cust drops the driver's message and
/// turns errors it does not know into `UnknownError`; this has the error's own name and the log.
pub fn load(ptx: &str) -> Result<Module> {
    let text = CString::new(ptx).context("the PTX has a zero byte in it")?;
    Module::from_ptx_cstr(&text, &[]).map_err(|error| why_not(&text).unwrap_or(error.into()))
}

/// Loads `text` once more, this time with a buffer for the message. `None` if it now loads.
fn why_not(text: &CStr) -> Option<Error> {
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The driver takes the size by value, in place of a pointer to it.
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: `text` is PTX that ends in a zero byte; `options` and `values` have two entries
    // each, and the buffer they name is as long as they say. All outlive the call.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if status == sys::CUresult::CUDA_SUCCESS {
        // SAFETY: the call above has just made `module`, and nothing else holds it.
        unsafe { sys::cuModuleUnload(module) };
        return None;
    }
    let message = until_zero(&log);
    let message = message.trim();
    Some(Error::msg(if message.is_empty() {
        format!("the PTX does not load: {}", name_of(status))
    } else {
        format!("the PTX does not load: {}\n{message}", name_of(status))
    }))
}

/// The driver's name for an error, as `CUDA_ERROR_INVALID_PTX`.
fn name_of(status: sys::CUresult) -> String {
    let mut name: *const c_char = ptr::null();
    // SAFETY: `name` is a valid place for the pointer.
    let known = unsafe { sys::cuGetErrorName(status, &mut name) };
    if known != sys::CUresult::CUDA_SUCCESS || name.is_null() {
        return format!("CUDA error {}", status as u32);
    }
    // SAFETY: the driver answered with a string of its own that ends in a zero byte and is never
    // freed.
    unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned()
}

/// The text before the first zero byte; bytes that are no UTF-8 become `�`.
fn until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_is_an_error_and_no_panic() {
        let error = load(".version 6.4\0").unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }

    #[test]
    fn a_log_ends_at_its_first_zero_byte() {
        assert_eq!(until_zero(b"line 3: oops\0\0rest"), "line 3: oops");
        assert_eq!(until_zero(b"no end"), "no end");
        assert_eq!(until_zero(b""), "");
        assert_eq!(until_zero(b"\xff\0"), "\u{fffd}");
    }
}
