//! Attributes and preferences of kernels.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;
use cust_raw::{CUfunction, CUmodule};

use super::arguments::{Out, handle, intern};
use super::lock_function;
use super::queue::{self, WaitTarget};
use crate::status::CallResult;

/// `cuFuncGetAttribute`.
pub fn attribute(value: Out<c_int>, attribute: c_int, function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    value.set(driver.function_attribute(function, attribute)?);
    Ok(())
}

/// `cuFuncSetAttribute`.
pub fn set_attribute(function: CUfunction, attribute: c_int, value: c_int) -> CallResult {
    // Pending launches were validated with the old value.
    queue::wait(WaitTarget::All);
    let (mut driver, function) = lock_function(function)?;
    Ok(driver.set_function_attribute(function, attribute, value)?)
}

/// `cuFuncSetCacheConfig`: the preferred split between L1 cache and shared memory. Validated, but without
/// effect.
pub fn set_cache_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 3)
}

/// `cuFuncSetSharedMemConfig`: the shared-memory bank size. Validated, but without effect: since Maxwell,
/// GPUs have only one size.
pub fn set_shared_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 2)
}

/// `cuFuncGetModule`.
pub fn module(module: Out<CUmodule>, function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    module.set(handle(driver.function_module(function)?.0));
    Ok(())
}

/// `cuFuncGetName`.
pub fn name(name: Out<*const c_char>, function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    name.set(intern(driver.function_name(function)?));
    Ok(())
}

/// `cuFuncGetParamInfo`.
pub fn parameter(
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Option<Out<usize>>,
) -> CallResult {
    let (driver, function) = lock_function(function)?;
    let parameters = driver.parameters(function)?.0;
    let parameter = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(parameter.offset as usize);
    Out::set_optional(size, parameter.size as usize);
    Ok(())
}

/// `cuFuncIsLoaded`: always true, because modules are loaded eagerly.
pub fn is_loaded(state: Out<c_int>, function: CUfunction) -> CallResult {
    /// `CU_FUNCTION_LOADING_STATE_LOADED`.
    const LOADED: c_int = 1;
    load(function)?;
    state.set(LOADED);
    Ok(())
}

/// `cuFuncLoad`: a no-op, because modules are loaded eagerly.
pub fn load(function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    driver.function_module(function)?;
    Ok(())
}

/// Rejects an unknown function, and a preference outside 0 to `last`.
fn check_preference(function: CUfunction, preference: c_int, last: c_int) -> CallResult {
    load(function)?;
    if !(0..=last).contains(&preference) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}
