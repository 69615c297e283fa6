//! Loading PTX and finding its variables, with the reason where either fails.

use std::ffi::{CStr, CString, c_void};
use std::{mem, ptr};

use anyhow::{Context as _, Result, anyhow, bail};
use cust::memory::{DeviceCopy, DevicePointer};
use cust::module::{Module, Symbol};
use cust::sys;

use crate::error::{check, name_of};

/// Bytes for the compiler's message; longer ones are cut off by the driver.
const LOG_BYTES: usize = 16 * 1024;

// cust does not show a module's handle. The version in use, which Cargo.toml pins, keeps it as
// the one field of `Module`, so the two have the same bytes: `load` and `place` build on that.
const _: () = assert!(size_of::<Module>() == size_of::<sys::CUmodule>());
const _: () = assert!(align_of::<Module>() == align_of::<sys::CUmodule>());

/// Loads a module as `Module::from_ptx` does, and where that fails says why.
///
/// # Errors
///
/// Where the PTX does not compile or does not fit the GPU. cust drops the driver's message and
/// turns errors it does not know into `UnknownError`; this has the error's own name and the log.
pub fn load(ptx: &str) -> Result<Module> {
    let text = CString::new(ptx).context("the PTX has a zero byte in it")?;
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
        // SAFETY: a `Module` is this handle and nothing else (above); nobody else holds it.
        return Ok(unsafe { mem::transmute::<sys::CUmodule, Module>(module) });
    }
    let message = format!("{}\n{}", name_of(status), until_zero(&log));
    Err(anyhow!("the PTX does not load: {}", message.trim()))
}

/// A `__constant__` or `__device__` variable of `module`, as `Module::get_global` finds it.
///
/// # Errors
///
/// Where there is no variable of this name, or it is not as large as a `T`: then the `.cu` file
/// and the Rust code differ, and both sizes are named. (cust panics.)
pub fn symbol<'a, T: DeviceCopy>(module: &'a Module, name: &CStr) -> Result<Symbol<'a, T>> {
    let shown = name.to_string_lossy();
    let missing = || format!("cannot find the variable {shown} in the kernel's module");
    let (_, bytes) = place(module, name).with_context(missing)?;
    if bytes != size_of::<T>() {
        bail!(
            "{shown} has {bytes} bytes in the .cu file and {} in the Rust code: \
             make both declare the same type and length",
            size_of::<T>()
        );
    }
    module.get_global(name).with_context(missing)
}

/// Where a `__constant__` or `__device__` variable of `module` is on the device, and how many
/// bytes it has.
///
/// # Errors
///
/// [`CudaError::NotFound`](cust::error::CudaError::NotFound) where there is no variable of this
/// name.
pub fn place(module: &Module, name: &CStr) -> Result<(DevicePointer<u8>, usize)> {
    // SAFETY: a `Module` is its handle and nothing else (above).
    let handle = unsafe { *ptr::from_ref(module).cast::<sys::CUmodule>() };
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the module is loaded, the name ends in a zero byte, and both results can be
    // written to.
    let status =
        unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, handle, name.as_ptr()) };
    check(status)?;
    Ok((DevicePointer::from_raw(address), bytes))
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
