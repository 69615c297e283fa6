//! Attributes and preferences of single kernels.

use std::ffi::c_int;

use cuda_sim::driver::{CudaError, FunctionId};
use cust_raw::{CUfunction, CUmodule};

use super::driver;
use super::raw::{Out, handle, number};
use crate::status::Answer;

/// `cuFuncGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, function: CUfunction) -> Answer {
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    value.set(driver()?.function_attribute(FunctionId(number(function)), attribute)?);
    Ok(())
}

/// `cuFuncSetAttribute`.
pub unsafe fn set_attribute(function: CUfunction, attribute: c_int, value: c_int) -> Answer {
    let function = FunctionId(number(function));
    Ok(driver()?.set_function_attribute(function, attribute, value)?)
}

/// `cuFuncSetCacheConfig`: how to divide cache and shared memory. It is checked and changes nothing
/// here.
pub unsafe fn set_cache_config(function: CUfunction, config: c_int) -> Answer {
    check_preference(function, config, 3)
}

/// `cuFuncSetSharedMemConfig`: the shared-memory bank size. It is checked and changes nothing, for
/// since Maxwell GPUs have one size only.
pub unsafe fn set_shared_config(function: CUfunction, config: c_int) -> Answer {
    check_preference(function, config, 2)
}

/// `cuFuncGetModule`.
pub unsafe fn module(module: *mut CUmodule, function: CUfunction) -> Answer {
    // SAFETY: the caller's promise.
    let module = unsafe { Out::new(module) }?;
    let found = driver()?.function_module(FunctionId(number(function)))?;
    module.set(handle(found.0));
    Ok(())
}

/// Refuses an unknown function, and a preference that is not one of 0 to `last`.
fn check_preference(function: CUfunction, preference: c_int, last: c_int) -> Answer {
    driver()?.function_module(FunctionId(number(function)))?;
    if !(0..=last).contains(&preference) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}
