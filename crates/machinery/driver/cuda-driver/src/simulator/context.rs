//! Contexts: primary contexts, created contexts, the current context, limits and settings.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::{ContextId, CudaError, Driver, Limit, PRIORITIES};
use cust_raw::{CUcontext, CUdevice};

use super::capture::{forget_streams, rules};
use super::device::check_device;
use super::queue::{self, WaitTarget};
use super::raw::{self, Out, handle, write_if_not_null};
use super::telemetry::report_leaks;
use super::{
    SIMULATOR, lock_current_context, lock_current_context_drained, lock_driver,
    lock_driver_drained, lock_mutex, require_current, with_contexts,
};
use crate::status::CallResult;
use crate::types::{CUctxCreateParams, CUexecAffinityParam};

/// The result of `cuCtxGetApiVersion` since CUDA 3.2.
const API_VERSION: c_uint = 3020;

/// The set of contexts that may be made current: those that were created and not destroyed. Primary contexts
/// stay in the set, since they can be retained again. It has its own lock, so that lookups do not wait for a
/// running launch, which holds the driver's.
pub struct LiveContexts(Mutex<BTreeSet<ContextId>>);

impl LiveContexts {
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// Registers a new context. Returns it.
    fn register(&self, context: ContextId) -> ContextId {
        lock_mutex(&self.0).insert(context);
        context
    }

    /// Removes a destroyed context that is not a primary context.
    fn unregister(&self, context: ContextId) {
        lock_mutex(&self.0).remove(&context);
    }

    /// Returns [`CudaError::InvalidContext`] for a context that may not be made current.
    fn check(&self, context: ContextId) -> Result<(), CudaError> {
        match lock_mutex(&self.0).contains(&context) {
            true => Ok(()),
            false => Err(CudaError::InvalidContext),
        }
    }
}

/// `cuDevicePrimaryCtxRetain`.
pub unsafe fn retain_primary(context: *mut CUcontext, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `context` is null or writable, as `cuDevicePrimaryCtxRetain` requires of its caller.
    let context = unsafe { Out::new(context) }?;
    let primary = SIMULATOR
        .live_contexts
        .register(lock_driver()?.retain_primary(device)?);
    context.set(handle(primary.0));
    Ok(())
}

/// `cuDevicePrimaryCtxRelease`.
pub unsafe fn release_primary(device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let mut driver = lock_driver_drained()?;
    driver.release_primary(device)?;
    forget_streams(&driver);
    report_leaks(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxReset`.
pub unsafe fn reset_primary(device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let mut driver = lock_driver_drained()?;
    driver.reset_primary(device)?;
    forget_streams(&driver);
    report_leaks(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxSetFlags`.
pub unsafe fn set_primary_flags(device: CUdevice, flags: c_uint) -> CallResult {
    let device = check_device(device)?;
    Ok(lock_driver_drained()?.set_primary_flags(device, flags)?)
}

/// `cuDevicePrimaryCtxGetState`.
pub unsafe fn primary_state(
    device: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `flags` and `active` are null or writable, as `cuDevicePrimaryCtxGetState` requires of its
    // caller.
    let (flags, active) = unsafe { (Out::new(flags)?, Out::new(active)?) };
    let (set, exists) = lock_driver_drained()?.primary_state(device)?;
    flags.set(set);
    active.set(exists.into());
    Ok(())
}

/// `cuCtxCreate`.
pub unsafe fn create(context: *mut CUcontext, flags: c_uint, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `context` is null or writable, as `cuCtxCreate` requires of its caller.
    let context = unsafe { Out::new(context) }?;
    let created = SIMULATOR
        .live_contexts
        .register(lock_driver_drained()?.create_context(device, flags)?);
    with_contexts(|contexts| contexts.push(created));
    context.set(handle(created.0));
    Ok(())
}

/// `cuCtxCreate_v3` of CUDA 11.4: with a list of execution affinities, which must be empty.
pub unsafe fn create_with_affinity(
    context: *mut CUcontext,
    _affinities: *const CUexecAffinityParam,
    count: c_int,
    flags: c_uint,
    device: CUdevice,
) -> CallResult {
    if count != 0 {
        return Err(CudaError::UnsupportedExecAffinity.into());
    }
    // SAFETY: `context` is null or writable, as `cuCtxCreate_v3` requires of its caller.
    unsafe { create(context, flags, device) }
}

/// `cuCtxCreate_v4` of CUDA 12.5.
pub unsafe fn create_with_parameters(
    context: *mut CUcontext,
    parameters: *const CUctxCreateParams,
    flags: c_uint,
    device: CUdevice,
) -> CallResult {
    // SAFETY: `parameters` is null or readable, as `cuCtxCreate_v4` requires of its caller.
    if let Some(parameters) = unsafe { parameters.as_ref() } {
        if parameters.affinity_count != 0 {
            return Err(CudaError::UnsupportedExecAffinity.into());
        }
        if !parameters.graphics.is_null() {
            return Err(CudaError::NotSupported.into());
        }
    }
    // SAFETY: `context` is null or writable, as `cuCtxCreate_v4` requires of its caller.
    unsafe { create(context, flags, device) }
}

/// `cuCtxGetExecAffinity`: every context has all SMs.
pub unsafe fn affinity(affinity: *mut CUexecAffinityParam, kind: c_int) -> CallResult {
    /// `CU_EXEC_AFFINITY_TYPE_SM_COUNT`, the only type.
    const SM_COUNT: c_int = 0;
    // SAFETY: `affinity` is null or writable, as `cuCtxGetExecAffinity` requires of its caller.
    let affinity = unsafe { Out::new(affinity) }?;
    let (driver, _) = lock_current_context_drained()?;
    if kind != SM_COUNT {
        return Err(CudaError::UnsupportedExecAffinity.into());
    }
    affinity.set(CUexecAffinityParam {
        kind,
        sm_count: driver.device().multiprocessors,
    });
    Ok(())
}

/// `cuCtxDestroy`.
pub unsafe fn destroy(context: CUcontext) -> CallResult {
    let context = raw::context(context).ok_or(CudaError::InvalidValue)?;
    let mut driver = lock_driver_drained()?;
    driver.destroy_context(context)?;
    SIMULATOR.live_contexts.unregister(context);
    forget_streams(&driver);
    report_leaks(driver);
    with_contexts(|contexts| {
        if contexts.current() == Some(context) {
            contexts.set_current(None);
        }
    });
    Ok(())
}

/// `cuCtxPushCurrent`.
pub unsafe fn push(context: CUcontext) -> CallResult {
    let context = raw::context(context).ok_or(CudaError::InvalidValue)?;
    SIMULATOR.live_contexts.check(context)?;
    with_contexts(|contexts| contexts.push(context));
    Ok(())
}

/// `cuCtxPopCurrent`.
pub unsafe fn pop(context: *mut CUcontext) -> CallResult {
    let popped = with_contexts(|contexts| contexts.pop())?;
    // SAFETY: `context` is null or writable, as `cuCtxPopCurrent` requires of its caller.
    unsafe { write_if_not_null(context, handle(popped.0)) };
    Ok(())
}

/// `cuCtxSetCurrent`.
pub unsafe fn set_current(context: CUcontext) -> CallResult {
    let context = raw::context(context);
    if let Some(context) = context {
        SIMULATOR.live_contexts.check(context)?;
    }
    with_contexts(|contexts| contexts.set_current(context));
    Ok(())
}

/// `cuCtxGetCurrent`.
pub unsafe fn get_current(context: *mut CUcontext) -> CallResult {
    // SAFETY: `context` is null or writable, as `cuCtxGetCurrent` requires of its caller.
    let context = unsafe { Out::new(context) }?;
    let number = with_contexts(|contexts| contexts.current()).map_or(0, |current| current.0);
    context.set(handle(number));
    Ok(())
}

/// `cuCtxGetDevice`.
pub unsafe fn device(device: *mut CUdevice) -> CallResult {
    // SAFETY: `device` is null or writable, as `cuCtxGetDevice` requires; the null context is allowed.
    unsafe { device_of(device, std::ptr::null_mut()) }
}

/// `cuCtxGetDevice` of CUDA 13: a null handle means the current context.
pub unsafe fn device_of(device: *mut CUdevice, context: CUcontext) -> CallResult {
    // SAFETY: `device` is null or writable, as `cuCtxGetDevice` requires of its caller.
    let device = unsafe { Out::new(device) }?;
    let (driver, context) = lock_context_drained(context)?;
    device.set(driver.context_device(context)? as CUdevice);
    Ok(())
}

/// Locks the driver and resolves a context handle; a null handle means the current context. Returns
/// [`CudaError::InvalidContext`] if there is none.
fn lock_context_drained(
    handle: CUcontext,
) -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = match raw::context(handle) {
        Some(context) => context,
        None => require_current()?,
    };
    let driver = lock_driver_drained()?;
    if !driver.is_context(context) {
        return Err(CudaError::InvalidContext);
    }
    Ok((driver, context))
}

/// `cuCtxGetId`: a number that is never reused. The handle's number is unique, so it serves as the ID.
pub unsafe fn id(context: CUcontext, id: *mut c_ulonglong) -> CallResult {
    // SAFETY: `id` is null or writable, as `cuCtxGetId` requires of its caller.
    let id = unsafe { Out::new(id) }?;
    id.set(lock_context_drained(context)?.1.0);
    Ok(())
}

/// `cuCtxSetFlags`.
pub unsafe fn set_flags(flags: c_uint) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    Ok(driver.set_context_flags(context, flags)?)
}

/// `cuCtxResetPersistingL2Cache`: a no-op, because no cache lines persist.
pub unsafe fn reset_persisting_cache() -> CallResult {
    let (driver, context) = lock_current_context_drained()?;
    driver.memory_info(context)?;
    Ok(())
}

/// `cuCtxEnablePeerAccess`.
pub unsafe fn enable_peer(peer: CUcontext, flags: c_uint) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let peer = raw::context(peer).ok_or(CudaError::InvalidContext)?;
    Ok(driver.enable_peer(context, peer)?)
}

/// `cuCtxDisablePeerAccess`.
pub unsafe fn disable_peer(peer: CUcontext) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    let peer = raw::context(peer).ok_or(CudaError::InvalidContext)?;
    Ok(driver.disable_peer(context, peer)?)
}

/// `cuCtxGetFlags`.
pub unsafe fn flags(flags: *mut c_uint) -> CallResult {
    // SAFETY: `flags` is null or writable, as `cuCtxGetFlags` requires of its caller.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context) = lock_current_context()?;
    flags.set(driver.context_flags(context)?);
    Ok(())
}

/// `cuCtxGetApiVersion`: a null handle means the current context.
pub unsafe fn api_version(context: CUcontext, version: *mut c_uint) -> CallResult {
    // SAFETY: `version` is null or writable, as `cuCtxGetApiVersion` requires of its caller.
    let version = unsafe { Out::new(version) }?;
    let _context_check = lock_context_drained(context)?;
    version.set(API_VERSION);
    Ok(())
}

/// `cuCtxSynchronize`.
pub unsafe fn synchronize() -> CallResult {
    let (driver, context) = lock_current_context()?;
    rules::check_context_wait(context)?;
    drop(driver);
    queue::wait(WaitTarget::All);
    let mut driver = lock_driver()?;
    Ok(driver.synchronize_context(context)?)
}

/// `cuCtxSynchronize_v2` of CUDA 13: a null handle means the current context.
pub unsafe fn synchronize_one(context: CUcontext) -> CallResult {
    let (mut driver, context) = lock_context_drained(context)?;
    Ok(driver.synchronize_context(context)?)
}

/// `cuCtxGetLimit`.
pub unsafe fn limit(value: *mut usize, limit: c_int) -> CallResult {
    // SAFETY: `value` is null or writable, as `cuCtxGetLimit` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let (driver, context) = lock_current_context_drained()?;
    value.set(driver.limit(context, Limit::from_number(limit)?)?);
    Ok(())
}

/// `cuCtxSetLimit`.
pub unsafe fn set_limit(limit: c_int, value: usize) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    Ok(driver.set_limit(context, Limit::from_number(limit)?, value)?)
}

/// `cuCtxGetCacheConfig`.
pub unsafe fn cache_config(config: *mut c_int) -> CallResult {
    // SAFETY: `config` is null or writable, as `cuCtxGetCacheConfig` requires of its caller.
    let config = unsafe { Out::new(config) }?;
    let (driver, context) = lock_current_context_drained()?;
    config.set(driver.cache_preference(context)?);
    Ok(())
}

/// `cuCtxSetCacheConfig`.
pub unsafe fn set_cache_config(config: c_int) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    Ok(driver.set_cache_preference(context, config)?)
}

/// `cuCtxGetSharedMemConfig`.
pub unsafe fn shared_config(config: *mut c_int) -> CallResult {
    // SAFETY: `config` is null or writable, as `cuCtxGetSharedMemConfig` requires of its caller.
    let config = unsafe { Out::new(config) }?;
    let (driver, context) = lock_current_context_drained()?;
    config.set(driver.bank_size(context)?);
    Ok(())
}

/// `cuCtxSetSharedMemConfig`.
pub unsafe fn set_shared_config(config: c_int) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    Ok(driver.set_bank_size(context, config)?)
}

/// `cuCtxGetStreamPriorityRange`.
pub unsafe fn stream_priority_range(least: *mut c_int, greatest: *mut c_int) -> CallResult {
    require_current()?;
    // SAFETY: `least` and `greatest` are null or writable, as `cuCtxGetStreamPriorityRange` requires of its
    // caller.
    unsafe {
        write_if_not_null(least, PRIORITIES.0);
        write_if_not_null(greatest, PRIORITIES.1);
    }
    Ok(())
}
