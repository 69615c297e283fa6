//! Attributes and preferences of kernels.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;
use cust_raw::{CUfunction, CUmodule};

use super::lock_function;
use super::queue::{self, WaitTarget};
use super::raw::{Out, handle, intern, write_if_not_null};
use crate::status::CallResult;

/// `cuFuncGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, function: CUfunction) -> CallResult {
    // SAFETY: `value` is null or writable, as `cuFuncGetAttribute` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let (driver, function) = lock_function(function)?;
    value.set(driver.function_attribute(function, attribute)?);
    Ok(())
}

/// `cuFuncSetAttribute`.
pub unsafe fn set_attribute(function: CUfunction, attribute: c_int, value: c_int) -> CallResult {
    // Pending launches were validated with the old value.
    queue::wait(WaitTarget::All);
    let (mut driver, function) = lock_function(function)?;
    Ok(driver.set_function_attribute(function, attribute, value)?)
}

/// `cuFuncSetCacheConfig`: the preferred split between L1 cache and shared memory. Validated, but without
/// effect.
pub unsafe fn set_cache_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 3)
}

/// `cuFuncSetSharedMemConfig`: the shared-memory bank size. Validated, but without effect: since Maxwell,
/// GPUs have only one size.
pub unsafe fn set_shared_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 2)
}

/// `cuFuncGetModule`.
pub unsafe fn module(module: *mut CUmodule, function: CUfunction) -> CallResult {
    // SAFETY: `module` is null or writable, as `cuFuncGetModule` requires of its caller.
    let module = unsafe { Out::new(module) }?;
    let (driver, function) = lock_function(function)?;
    module.set(handle(driver.function_module(function)?.0));
    Ok(())
}

/// `cuFuncGetName`.
pub unsafe fn name(name: *mut *const c_char, function: CUfunction) -> CallResult {
    // SAFETY: `name` is null or writable, as `cuFuncGetName` requires of its caller.
    let name = unsafe { Out::new(name) }?;
    let (driver, function) = lock_function(function)?;
    name.set(intern(driver.function_name(function)?));
    Ok(())
}

/// `cuFuncGetParamInfo`.
pub unsafe fn parameter(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> CallResult {
    // SAFETY: `offset` is null or writable, as `cuFuncGetParamInfo` requires of its caller.
    let offset = unsafe { Out::new(offset) }?;
    let (driver, function) = lock_function(function)?;
    let parameters = driver.parameters(function)?.0;
    let parameter = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(parameter.offset as usize);
    // SAFETY: `size` is null or writable, as `cuFuncGetParamInfo` requires of its caller.
    unsafe { write_if_not_null(size, parameter.size as usize) };
    Ok(())
}

/// `cuFuncIsLoaded`: always true, because modules are loaded eagerly.
pub unsafe fn is_loaded(state: *mut c_int, function: CUfunction) -> CallResult {
    /// `CU_FUNCTION_LOADING_STATE_LOADED`.
    const LOADED: c_int = 1;
    // SAFETY: `state` is null or writable, as `cuFuncIsLoaded` requires of its caller.
    let state = unsafe { Out::new(state) }?;
    // SAFETY: `load` dereferences no pointer: a function handle is only looked up.
    unsafe { load(function) }?;
    state.set(LOADED);
    Ok(())
}

/// `cuFuncLoad`: a no-op, because modules are loaded eagerly.
pub unsafe fn load(function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    driver.function_module(function)?;
    Ok(())
}

/// Rejects an unknown function, and a preference outside 0 to `last`.
fn check_preference(function: CUfunction, preference: c_int, last: c_int) -> CallResult {
    // SAFETY: `load` dereferences no pointer: a function handle is only looked up.
    unsafe { load(function) }?;
    if !(0..=last).contains(&preference) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}
