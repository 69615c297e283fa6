//! Attributes and preferences of single kernels.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;
use cust_raw::{CUfunction, CUmodule};

use super::queue::{self, Awaited};
use super::raw::{Out, handle, lasting, set_if_wanted};
use super::with_function;
use crate::status::Answer;

/// `cuFuncGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, function: CUfunction) -> Answer {
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    let (driver, function) = with_function(function)?;
    value.set(driver.function_attribute(function, attribute)?);
    Ok(())
}

/// `cuFuncSetAttribute`.
pub unsafe fn set_attribute(function: CUfunction, attribute: c_int, value: c_int) -> Answer {
    // What waits was checked with the value before.
    queue::wait(Awaited::All);
    let (mut driver, function) = with_function(function)?;
    Ok(driver.set_function_attribute(function, attribute, value)?)
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
    let (driver, function) = with_function(function)?;
    module.set(handle(driver.function_module(function)?.0));
    Ok(())
}

/// `cuFuncGetName`.
pub unsafe fn name(name: *mut *const c_char, function: CUfunction) -> Answer {
    // SAFETY: the caller's promise.
    let name = unsafe { Out::new(name) }?;
    let (driver, function) = with_function(function)?;
    name.set(lasting(driver.function_name(function)?));
    Ok(())
}

/// `cuFuncGetParamInfo`.
pub unsafe fn parameter(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Answer {
    // SAFETY: the caller's promise.
    let offset = unsafe { Out::new(offset) }?;
    let (driver, function) = with_function(function)?;
    let parameters = driver.parameters(function)?.0;
    let found = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(found.offset as usize);
    // SAFETY: the caller's promise.
    unsafe { set_if_wanted(size, found.size as usize) };
    Ok(())
}

/// `cuFuncIsLoaded`: always, for a module is loaded at once.
pub unsafe fn is_loaded(state: *mut c_int, function: CUfunction) -> Answer {
    /// `CU_FUNCTION_LOADING_STATE_LOADED`.
    const LOADED: c_int = 1;
    // SAFETY: the caller's promise.
    let state = unsafe { Out::new(state) }?;
    // SAFETY: any handle may be asked about.
    unsafe { load(function) }?;
    state.set(LOADED);
    Ok(())
}

/// `cuFuncLoad`: it is loaded already.
pub unsafe fn load(function: CUfunction) -> Answer {
    let (driver, function) = with_function(function)?;
    driver.function_module(function)?;
    Ok(())
}

/// Refuses an unknown function, and a preference that is not one of 0 to `last`.
fn check_preference(function: CUfunction, preference: c_int, last: c_int) -> Answer {
    // SAFETY: any handle may be asked about.
    unsafe { load(function) }?;
    if !(0..=last).contains(&preference) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}
