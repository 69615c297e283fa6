//! Contexts: primary, created, current; their limits and settings.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{CudaError, Limit, PRIORITIES};
use cust_raw::{CUcontext, CUdevice};

use super::check::report_leaks;
use super::device::check_device;
use super::raw::{self, Out, handle, set_if_wanted};
use super::{contexts, current, driver, require_current};
use crate::status::Answer;

/// What `cuCtxGetApiVersion` has answered since CUDA 3.2.
const API_VERSION: c_uint = 3020;

/// `cuDevicePrimaryCtxRetain`.
pub unsafe fn retain_primary(context: *mut CUcontext, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let context = unsafe { Out::new(context) }?;
    context.set(handle(driver()?.retain_primary().0));
    Ok(())
}

/// `cuDevicePrimaryCtxRelease`.
pub unsafe fn release_primary(device: CUdevice) -> Answer {
    check_device(device)?;
    let mut driver = driver()?;
    driver.release_primary()?;
    report_leaks(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxReset`.
pub unsafe fn reset_primary(device: CUdevice) -> Answer {
    check_device(device)?;
    let mut driver = driver()?;
    driver.reset_primary();
    report_leaks(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxSetFlags`.
pub unsafe fn set_primary_flags(device: CUdevice, flags: c_uint) -> Answer {
    check_device(device)?;
    Ok(driver()?.set_primary_flags(flags)?)
}

/// `cuDevicePrimaryCtxGetState`.
pub unsafe fn primary_state(device: CUdevice, flags: *mut c_uint, active: *mut c_int) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let (flags, active) = unsafe { (Out::new(flags)?, Out::new(active)?) };
    let (set, exists) = driver()?.primary_state();
    flags.set(set);
    active.set(exists.into());
    Ok(())
}

/// `cuCtxCreate`.
pub unsafe fn create(context: *mut CUcontext, flags: c_uint, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let context = unsafe { Out::new(context) }?;
    let created = driver()?.create_context(flags)?;
    contexts(|contexts| contexts.push(created));
    context.set(handle(created.0));
    Ok(())
}

/// `cuCtxDestroy`.
pub unsafe fn destroy(context: CUcontext) -> Answer {
    let context = raw::context(context).ok_or(CudaError::InvalidValue)?;
    let mut driver = driver()?;
    driver.destroy_context(context)?;
    report_leaks(driver);
    contexts(|contexts| {
        if contexts.current() == Some(context) {
            contexts.set_current(None);
        }
    });
    Ok(())
}

/// `cuCtxPushCurrent`.
pub unsafe fn push(context: CUcontext) -> Answer {
    let context = raw::context(context).ok_or(CudaError::InvalidValue)?;
    if !driver()?.is_context(context) {
        return Err(CudaError::InvalidContext.into());
    }
    contexts(|contexts| contexts.push(context));
    Ok(())
}

/// `cuCtxPopCurrent`.
pub unsafe fn pop(context: *mut CUcontext) -> Answer {
    let popped = contexts(|contexts| contexts.pop())?;
    // SAFETY: the caller's promise.
    unsafe { set_if_wanted(context, handle(popped.0)) };
    Ok(())
}

/// `cuCtxSetCurrent`.
pub unsafe fn set_current(context: CUcontext) -> Answer {
    let context = raw::context(context);
    if let Some(context) = context
        && !driver()?.is_context(context)
    {
        return Err(CudaError::InvalidContext.into());
    }
    contexts(|contexts| contexts.set_current(context));
    Ok(())
}

/// `cuCtxGetCurrent`.
pub unsafe fn get_current(context: *mut CUcontext) -> Answer {
    // SAFETY: the caller's promise.
    let context = unsafe { Out::new(context) }?;
    let number = contexts(|contexts| contexts.current()).map_or(0, |current| current.0);
    context.set(handle(number));
    Ok(())
}

/// `cuCtxGetDevice`.
pub unsafe fn device(device: *mut CUdevice) -> Answer {
    // SAFETY: the caller's promise.
    let device = unsafe { Out::new(device) }?;
    require_current()?;
    device.set(0);
    Ok(())
}

/// `cuCtxGetFlags`.
pub unsafe fn flags(flags: *mut c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context) = current()?;
    flags.set(driver.context_flags(context)?);
    Ok(())
}

/// `cuCtxGetApiVersion`: a null context means the current one.
pub unsafe fn api_version(context: CUcontext, version: *mut c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let version = unsafe { Out::new(version) }?;
    let context = match raw::context(context) {
        Some(context) => context,
        None => require_current()?,
    };
    if !driver()?.is_context(context) {
        return Err(CudaError::InvalidContext.into());
    }
    version.set(API_VERSION);
    Ok(())
}

/// `cuCtxSynchronize`.
pub unsafe fn synchronize() -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.synchronize_context(context)?)
}

/// `cuCtxGetLimit`.
pub unsafe fn limit(value: *mut usize, limit: c_int) -> Answer {
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    let (driver, context) = current()?;
    value.set(driver.limit(context, Limit::from_number(limit)?)?);
    Ok(())
}

/// `cuCtxSetLimit`.
pub unsafe fn set_limit(limit: c_int, value: usize) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.set_limit(context, Limit::from_number(limit)?, value)?)
}

/// `cuCtxGetCacheConfig`.
pub unsafe fn cache_config(config: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let config = unsafe { Out::new(config) }?;
    let (driver, context) = current()?;
    config.set(driver.cache_preference(context)?);
    Ok(())
}

/// `cuCtxSetCacheConfig`.
pub unsafe fn set_cache_config(config: c_int) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.set_cache_preference(context, config)?)
}

/// `cuCtxGetSharedMemConfig`.
pub unsafe fn shared_config(config: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let config = unsafe { Out::new(config) }?;
    let (driver, context) = current()?;
    config.set(driver.bank_size(context)?);
    Ok(())
}

/// `cuCtxSetSharedMemConfig`.
pub unsafe fn set_shared_config(config: c_int) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.set_bank_size(context, config)?)
}

/// `cuCtxGetStreamPriorityRange`.
pub unsafe fn stream_priority_range(least: *mut c_int, greatest: *mut c_int) -> Answer {
    require_current()?;
    // SAFETY: the caller's promise.
    unsafe {
        set_if_wanted(least, PRIORITIES.0);
        set_if_wanted(greatest, PRIORITIES.1);
    }
    Ok(())
}
