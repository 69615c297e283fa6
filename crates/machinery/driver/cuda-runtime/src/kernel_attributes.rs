//! Attributes and preferences of single kernels.

use std::ffi::{c_char, c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::CUfunction;

use crate::arguments::Out;
use crate::program;
use crate::status::{Result, check};
use crate::types::FunctionAttributes;

/// `cudaFuncGetAttributes`.
pub unsafe fn attributes(to: *mut FunctionAttributes, host: *const c_void) -> Result {
    // SAFETY: `cudaFuncGetAttributes` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    let function = program::kernel(host)?;
    let get = |number| attribute(function, number);
    to.set(FunctionAttributes {
        max_threads_per_block: get(0)?,
        shared_size: get(1)? as usize,
        const_size: get(2)? as usize,
        local_size: get(3)? as usize,
        registers: get(4)?,
        ptx_version: get(5)?,
        binary_version: get(6)?,
        cache_mode_ca: get(7)?,
        max_dynamic_shared_size: get(8)?,
        preferred_shmem_carveout: get(9)?,
        ..FunctionAttributes::default()
    });
    Ok(())
}

/// Returns the attribute with this number in `CUfunction_attribute`.
fn attribute(function: CUfunction, number: c_int) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: `value` is writable, and `function` comes from the loaded module.
    check(unsafe { cu::cuFuncGetAttribute(&mut value, number, function) })?;
    Ok(value)
}

/// `cudaFuncSetAttribute`.
pub unsafe fn set_attribute(host: *const c_void, number: c_int, value: c_int) -> Result {
    let function = program::kernel(host)?;
    // SAFETY: `function` comes from the loaded module; the driver validates both numbers.
    check(unsafe { cu::cuFuncSetAttribute(function, number, value) })
}

/// `cudaFuncSetCacheConfig`.
pub unsafe fn set_cache_config(host: *const c_void, config: c_int) -> Result {
    let function = program::kernel(host)?;
    // SAFETY: `function` comes from the loaded module; the driver validates `config`.
    check(unsafe { cu::cuFuncSetCacheConfig(function, config) })
}

/// `cudaFuncSetSharedMemConfig`.
pub unsafe fn set_shared_config(host: *const c_void, config: c_int) -> Result {
    let function = program::kernel(host)?;
    // SAFETY: `function` comes from the loaded module; the driver validates `config`.
    check(unsafe { cu::cuFuncSetSharedMemConfig(function, config) })
}

/// `cudaFuncGetName`.
pub unsafe fn name(to: *mut *const c_char, host: *const c_void) -> Result {
    // SAFETY: `cudaFuncGetName` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(program::kernel_name(host)?);
    Ok(())
}
