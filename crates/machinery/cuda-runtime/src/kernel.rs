//! Attributes and preferences of single kernels.

use std::ffi::{c_char, c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::CUfunction;

use crate::arguments::Out;
use crate::program;
use crate::status::{Answer, driver};
use crate::types::FunctionAttributes;

/// `cudaFuncGetAttributes`.
pub unsafe fn attributes(to: *mut FunctionAttributes, host: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    let function = program::kernel(host)?;
    let ask = |number| attribute(function, number);
    to.set(FunctionAttributes {
        max_threads_per_block: ask(0)?,
        shared_size: ask(1)? as usize,
        const_size: ask(2)? as usize,
        local_size: ask(3)? as usize,
        registers: ask(4)?,
        ptx_version: ask(5)?,
        binary_version: ask(6)?,
        cache_mode_ca: ask(7)?,
        max_dynamic_shared_size: ask(8)?,
        preferred_shmem_carveout: ask(9)?,
        ..FunctionAttributes::default()
    });
    Ok(())
}

/// An attribute by its number in `CUfunction_attribute`.
fn attribute(function: CUfunction, number: c_int) -> Answer<c_int> {
    let mut value = 0;
    // SAFETY: the driver writes one number.
    driver(unsafe { cu::cuFuncGetAttribute(&mut value, number, function) })?;
    Ok(value)
}

/// `cudaFuncSetAttribute`.
pub unsafe fn set_attribute(host: *const c_void, number: c_int, value: c_int) -> Answer {
    let function = program::kernel(host)?;
    // SAFETY: any numbers may be given.
    driver(unsafe { cu::cuFuncSetAttribute(function, number, value) })
}

/// `cudaFuncSetCacheConfig`.
pub unsafe fn set_cache_config(host: *const c_void, config: c_int) -> Answer {
    let function = program::kernel(host)?;
    // SAFETY: any number may be given.
    driver(unsafe { cu::cuFuncSetCacheConfig(function, config) })
}

/// `cudaFuncSetSharedMemConfig`.
pub unsafe fn set_shared_config(host: *const c_void, config: c_int) -> Answer {
    let function = program::kernel(host)?;
    // SAFETY: any number may be given.
    driver(unsafe { cu::cuFuncSetSharedMemConfig(function, config) })
}

/// `cudaFuncGetName`.
pub unsafe fn name(to: *mut *const c_char, host: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(program::kernel_name(host)?);
    Ok(())
}
