//! Loading of PTX modules and lookup of their variables, with errors that state the cause.

use std::ffi::{CStr, CString, c_void};
use std::{mem, ptr};

use anyhow::{Context as _, Result, anyhow, bail};
use cust::memory::{DeviceCopy, DevicePointer};
use cust::module::{Module, Symbol};
use cust::sys;

use crate::error::{check, name_of};

/// Capacity in bytes of the compiler's log; the driver truncates longer logs.
const LOG_BYTES: usize = 16 * 1024;

// cust keeps a module's handle private. In the version pinned in Cargo.toml the handle is the only field of
// `Module`, so both have the same representation. `load` and `symbol_address` rely on that.
const _: () = assert!(size_of::<Module>() == size_of::<sys::CUmodule>());
const _: () = assert!(align_of::<Module>() == align_of::<sys::CUmodule>());

/// Loads a module like `Module::from_ptx`, but reports why it fails.
///
/// # Errors
///
/// Fails if the PTX does not compile or does not fit the GPU. cust drops the driver's log and maps errors it
/// does not define to `UnknownError`; this error has the driver's error name and the log.
pub fn load(ptx: &str) -> Result<Module> {
    let text = CString::new(ptx).context("the PTX contains a zero byte")?;
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The driver expects the size itself instead of a pointer to it.
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: `text` is NUL-terminated PTX; `options` and `values` have two entries each, and the log buffer
    // has the length in the second value. All of them outlive the call.
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
        // SAFETY: a `Module` is represented as its handle (asserted above), and this handle has no other owner.
        return Ok(unsafe { mem::transmute::<sys::CUmodule, Module>(module) });
    }
    let message = format!("{}\n{}", name_of(status), until_nul(&log));
    Err(anyhow!("the PTX does not load: {}", message.trim()))
}

/// Returns a `__constant__` or `__device__` variable of `module`, like `Module::get_global`.
///
/// # Errors
///
/// Fails if there is no variable with this name, or its size is not that of a `T`: then the `.cu` file and
/// the Rust code differ, and the error names both sizes. (cust panics.)
pub fn symbol<'a, T: DeviceCopy>(module: &'a Module, name: &CStr) -> Result<Symbol<'a, T>> {
    let variable = name.to_string_lossy();
    let missing = || format!("cannot find the variable {variable} in the kernel's module");
    let (_, bytes) = symbol_address(module, name).with_context(missing)?;
    if bytes != size_of::<T>() {
        bail!(
            "{variable} has {bytes} bytes in the .cu file and {} in the Rust code: \
             make both declare the same type and length",
            size_of::<T>()
        );
    }
    module.get_global(name).with_context(missing)
}

/// Returns the device address and the size in bytes of a `__constant__` or `__device__` variable of `module`.
///
/// # Errors
///
/// Fails with [`CudaError::NotFound`](cust::error::CudaError::NotFound) if there is no variable with this name.
pub fn symbol_address(module: &Module, name: &CStr) -> Result<(DevicePointer<u8>, usize)> {
    // SAFETY: a `Module` is represented as its handle (asserted above), which is `Copy`.
    let handle = unsafe { *ptr::from_ref(module).cast::<sys::CUmodule>() };
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the module is loaded as long as it is borrowed, `name` is NUL-terminated, and both outputs are
    // writable.
    let status =
        unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, handle, name.as_ptr()) };
    check(status)?;
    Ok((DevicePointer::from_raw(address), bytes))
}

/// Returns the text before the first zero byte; bytes that are not UTF-8 become `�`.
fn until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_is_an_error() {
        let error = load(".version 6.4\0").unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }

    #[test]
    fn a_log_ends_at_its_first_zero_byte() {
        assert_eq!(until_nul(b"line 3: oops\0\0rest"), "line 3: oops");
        assert_eq!(until_nul(b"no end"), "no end");
        assert_eq!(until_nul(b""), "");
        assert_eq!(until_nul(b"\xff\0"), "\u{fffd}");
    }
}
