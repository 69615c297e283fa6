//! Contexts: primary contexts, created contexts, the current context, limits and settings.
//!
//! The attributes of core dumps are settings that programs can store and read. The simulator writes no core dumps; it reports
//! a fault with its cause instead.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{ContextId, CudaError, Limit, PRIORITIES};

use super::SIMULATOR;
use super::device::check_device;
use crate::arguments::{In, InOut, Out, handle, required};
use crate::simulator::{Locked, WaitTarget, lock, require_current, with_contexts};
use crate::status::CallResult;
use crate::types::{CUcontext, CUctxCreateParams, CUdevice, CUexecAffinityParam};

/// The result of `cuCtxGetApiVersion` since CUDA 3.2.
const API_VERSION: c_uint = 3020;

/// `cuDevicePrimaryCtxRetain`.
pub fn retain_primary(context: Option<Out<CUcontext>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let context = required(context)?;
    let primary = SIMULATOR
        .known_contexts
        .register(SIMULATOR.lock_driver()?.retain_primary(device)?);
    context.set(handle(primary.0));
    Ok(())
}

/// `cuDevicePrimaryCtxRelease`.
pub fn release_primary(device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let mut driver = SIMULATOR.lock_driver_to_free()?;
    driver.release_primary(device)?;
    SIMULATOR.forget_contexts(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxReset`.
pub fn reset_primary(device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let mut driver = SIMULATOR.lock_driver_to_free()?;
    driver.reset_primary(device)?;
    SIMULATOR.forget_contexts(driver);
    Ok(())
}

/// `cuDevicePrimaryCtxSetFlags`.
pub fn set_primary_flags(device: CUdevice, flags: c_uint) -> CallResult {
    let device = check_device(device)?;
    Ok(SIMULATOR
        .lock_driver_settled()?
        .set_primary_flags(device, flags)?)
}

/// `cuDevicePrimaryCtxGetState`.
pub fn primary_state(
    device: CUdevice,
    flags: Option<Out<c_uint>>,
    active: Option<Out<c_int>>,
) -> CallResult {
    let device = check_device(device)?;
    let flags = required(flags)?;
    let active = required(active)?;
    let (set, exists) = SIMULATOR.lock_driver_settled()?.primary_state(device)?;
    flags.set(set);
    active.set(exists.into());
    Ok(())
}

/// `cuCtxCreate`.
pub fn create(context: Option<Out<CUcontext>>, flags: c_uint, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let context = required(context)?;
    let created = SIMULATOR.known_contexts.register(
        SIMULATOR
            .lock_driver_settled()?
            .create_context(device, flags)?,
    );
    with_contexts(|contexts| contexts.push(created));
    context.set(handle(created.0));
    Ok(())
}

/// `cuCtxCreate_v3` of CUDA 11.4: with a list of execution affinities, which must be empty.
pub fn create_with_affinity(
    context: Option<Out<CUcontext>>,
    _affinities: *const CUexecAffinityParam,
    count: c_int,
    flags: c_uint,
    device: CUdevice,
) -> CallResult {
    if count != 0 {
        return Err(CudaError::UnsupportedExecAffinity.into());
    }
    create(context, flags, device)
}

/// `cuCtxCreate_v4` of CUDA 12.5.
pub fn create_with_parameters(
    context: Option<Out<CUcontext>>,
    parameters: Option<In<CUctxCreateParams>>,
    flags: c_uint,
    device: CUdevice,
) -> CallResult {
    if let Some(parameters) = parameters.map(|parameters| parameters.read()) {
        if parameters.affinity_count != 0 {
            return Err(CudaError::UnsupportedExecAffinity.into());
        }
        if !parameters.graphics.is_null() {
            return Err(CudaError::NotSupported.into());
        }
    }
    create(context, flags, device)
}

/// `cuCtxGetExecAffinity`: every context has all SMs.
pub fn affinity(affinity: Out<CUexecAffinityParam>, kind: c_int) -> CallResult {
    /// `CU_EXEC_AFFINITY_TYPE_SM_COUNT`, the only type.
    const SM_COUNT: c_int = 0;
    let (driver, _) = SIMULATOR.lock_current_context_settled()?;
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
pub fn destroy(context: Option<ContextId>) -> CallResult {
    let context = required(context)?;
    let mut driver = SIMULATOR.lock_driver_to_free()?;
    driver.destroy_context(context)?;
    SIMULATOR.forget_contexts(driver);
    with_contexts(|contexts| {
        if contexts.current() == Some(context) {
            contexts.set_current(None);
        }
    });
    Ok(())
}

/// `cuCtxAttach`: increments the usage count of the current context.
pub fn attach(context: Option<Out<CUcontext>>, flags: c_uint) -> CallResult {
    let context = required(context)?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (_driver, current) = SIMULATOR.lock_current_context_settled()?;
    *lock(&SIMULATOR.tables.attachments)
        .entry(current)
        .or_default() += 1;
    context.set(handle(current.0));
    Ok(())
}

/// `cuCtxDetach`: decrements the usage count of the current context, and destroys the context at zero.
pub fn detach(context: Option<ContextId>) -> CallResult {
    let context = required(context)?;
    if require_current()? != context {
        return Err(CudaError::InvalidContext.into());
    }
    let is_attached = match lock(&SIMULATOR.tables.attachments).get_mut(&context) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    if is_attached {
        return Ok(());
    }
    destroy(Some(context))
}

/// `cuCtxPushCurrent`.
pub fn push(context: Option<ContextId>) -> CallResult {
    let context = required(context)?;
    SIMULATOR.known_contexts.check(context)?;
    with_contexts(|contexts| contexts.push(context));
    Ok(())
}

/// `cuCtxPopCurrent`.
pub fn pop(context: Option<Out<CUcontext>>) -> CallResult {
    let popped = with_contexts(|contexts| contexts.pop())?;
    Out::set_optional(context, handle(popped.0));
    Ok(())
}

/// `cuCtxSetCurrent`.
pub fn set_current(context: Option<ContextId>) -> CallResult {
    if let Some(context) = context {
        SIMULATOR.known_contexts.check(context)?;
    }
    with_contexts(|contexts| contexts.set_current(context));
    Ok(())
}

/// `cuCtxGetCurrent`.
pub fn get_current(context: Out<CUcontext>) -> CallResult {
    let number = with_contexts(|contexts| contexts.current()).map_or(0, |current| current.0);
    context.set(handle(number));
    Ok(())
}

/// `cuCtxGetDevice`.
pub fn device(device: Out<CUdevice>) -> CallResult {
    device_of(device, None)
}

/// `cuCtxGetDevice` of CUDA 13: a null handle means the current context.
pub fn device_of(device: Out<CUdevice>, context: Option<ContextId>) -> CallResult {
    let (driver, context) = lock_context(context)?;
    device.set(driver.context_device(context)? as CUdevice);
    Ok(())
}

/// Locks the driver and resolves a context handle; a null handle means the current context. Returns
/// [`CudaError::InvalidContext`] if there is none.
fn lock_context(context: Option<ContextId>) -> Locked<'static, ContextId> {
    let context = match context {
        Some(context) => context,
        None => require_current()?,
    };
    let driver = SIMULATOR.lock_driver_settled()?;
    if !driver.is_context(context) {
        return Err(CudaError::InvalidContext);
    }
    Ok((driver, context))
}

/// `cuCtxGetId`: a number that is never reused. The handle's number is unique, so it serves as the ID.
pub fn id(context: Option<ContextId>, id: Out<c_ulonglong>) -> CallResult {
    id.set(lock_context(context)?.1.0);
    Ok(())
}

/// `cuCtxSetFlags`.
pub fn set_flags(flags: c_uint) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    Ok(driver.set_context_flags(context, flags)?)
}

/// `cuCtxResetPersistingL2Cache`: a no-op, because no cache lines persist.
pub fn reset_persisting_cache() -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    driver.memory_info(context)?;
    Ok(())
}

/// `cuCtxEnablePeerAccess`.
pub fn enable_peer(peer: Option<ContextId>, flags: c_uint) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let peer = peer.ok_or(CudaError::InvalidContext)?;
    Ok(driver.enable_peer(context, peer)?)
}

/// `cuCtxDisablePeerAccess`.
pub fn disable_peer(peer: Option<ContextId>) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let peer = peer.ok_or(CudaError::InvalidContext)?;
    Ok(driver.disable_peer(context, peer)?)
}

/// `cuCtxGetFlags`.
pub fn flags(flags: Out<c_uint>) -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context()?;
    flags.set(driver.context_flags(context)?);
    Ok(())
}

/// `cuCtxGetApiVersion`: a null handle means the current context.
pub fn api_version(context: Option<ContextId>, version: Out<c_uint>) -> CallResult {
    let _context_check = lock_context(context)?;
    version.set(API_VERSION);
    Ok(())
}

/// `cuCtxSynchronize`.
pub fn synchronize() -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context()?;
    SIMULATOR.captures.check_context_wait(context)?;
    drop(driver);
    SIMULATOR.wait(WaitTarget::All);
    SIMULATOR.host_waited_for_context(context);
    let mut driver = SIMULATOR.lock_driver()?;
    Ok(driver.synchronize_context(context)?)
}

/// `cuCtxSynchronize_v2` of CUDA 13: a null handle means the current context.
pub fn synchronize_one(context: Option<ContextId>) -> CallResult {
    let (mut driver, context) = lock_context(context)?;
    SIMULATOR.host_waited_for_context(context);
    Ok(driver.synchronize_context(context)?)
}

/// `cuCtxGetLimit`.
pub fn limit(value: Out<usize>, limit: c_int) -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    value.set(driver.limit(context, Limit::from_number(limit)?)?);
    Ok(())
}

/// `cuCtxSetLimit`: waits for all streams to set the stack size.
pub fn set_limit(limit: c_int, value: usize) -> CallResult {
    let limit = Limit::from_number(limit);
    let (mut driver, context) = match limit {
        Ok(Limit::StackSize) => SIMULATOR.lock_current_context_drained()?,
        _ => SIMULATOR.lock_current_context_settled()?,
    };
    Ok(driver.set_limit(context, limit?, value)?)
}

/// `cuCtxGetCacheConfig`.
pub fn cache_config(config: Out<c_int>) -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    config.set(driver.cache_preference(context)?);
    Ok(())
}

/// `cuCtxSetCacheConfig`.
pub fn set_cache_config(config: c_int) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    Ok(driver.set_cache_preference(context, config)?)
}

/// `cuCtxGetSharedMemConfig`.
pub fn shared_config(config: Out<c_int>) -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    config.set(driver.bank_size(context)?);
    Ok(())
}

/// `cuCtxSetSharedMemConfig`.
pub fn set_shared_config(config: c_int) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    Ok(driver.set_bank_size(context, config)?)
}

/// `cuCtxGetStreamPriorityRange`.
pub fn stream_priority_range(
    least: Option<Out<c_int>>,
    greatest: Option<Out<c_int>>,
) -> CallResult {
    require_current()?;
    Out::set_optional(least, PRIORITIES.0);
    Out::set_optional(greatest, PRIORITIES.1);
    Ok(())
}

/// The attributes with the names of the file and of the pipe (`CUcoredumpSettings`), which are texts.
const FILE: c_int = 5;
const PIPE: c_int = 6;

/// The maximum length of a file name, with its NUL.
const MAX_TEXT: usize = 1024;

/// Returns the default value of a `CUcoredumpSettings`.
fn default_value(attribute: c_int) -> Result<Vec<u8>, CudaError> {
    Ok(match attribute {
        // On an exception; lightweight; by the user.
        1 | 3 | 4 => vec![0],
        // Also of the host's process.
        2 => vec![1],
        FILE => b"core.cuda.%h.%p\0".to_vec(),
        PIPE => b"corepipe.cuda.%h.%p\0".to_vec(),
        // Generation flags.
        7 => vec![0; 4],
        _ => return Err(CudaError::InvalidValue),
    })
}

/// `cuCoredumpGetAttribute`.
pub fn attribute(attribute: c_int, value: Option<Out<c_void>>, size: InOut<usize>) -> CallResult {
    write(Some(require_current()?), attribute, value, size)
}

/// `cuCoredumpGetAttributeGlobal`.
pub fn global_attribute(
    attribute: c_int,
    value: Option<Out<c_void>>,
    size: InOut<usize>,
) -> CallResult {
    write(None, attribute, value, size)
}

/// `cuCoredumpSetAttribute`.
pub fn set_attribute(attribute: c_int, value: In<c_void>, size: InOut<usize>) -> CallResult {
    store(Some(require_current()?), attribute, &value, size.read())
}

/// `cuCoredumpSetAttributeGlobal`.
pub fn set_global_attribute(attribute: c_int, value: In<c_void>, size: InOut<usize>) -> CallResult {
    store(None, attribute, &value, size.read())
}

/// Writes an attribute and its size. Without room for the value, writes only the size.
fn write(
    context: Option<ContextId>,
    attribute: c_int,
    value: Option<Out<c_void>>,
    size: InOut<usize>,
) -> CallResult {
    let default = default_value(attribute)?;
    let settings = lock(&SIMULATOR.tables.core_dump_settings);
    let stored = settings.get(&(context, attribute));
    let stored = stored.or_else(|| settings.get(&(None, attribute)));
    let bytes = stored.unwrap_or(&default);
    if let Some(value) = value {
        if size.read() < bytes.len() {
            return Err(CudaError::InvalidValue.into());
        }
        // SAFETY: the value has the size that the C function's caller states, which is enough.
        unsafe { value.set_all_as(bytes.iter().copied()) };
    }
    size.set(bytes.len());
    Ok(())
}

/// Stores an attribute of a context, or of the process.
fn store(
    context: Option<ContextId>,
    attribute: c_int,
    value: &In<c_void>,
    size: usize,
) -> CallResult {
    let default = default_value(attribute)?;
    let is_text = matches!(attribute, FILE | PIPE);
    let is_valid = match is_text {
        true => (1..=MAX_TEXT).contains(&size),
        false => size >= default.len(),
    };
    if !is_valid {
        return Err(CudaError::InvalidValue.into());
    }
    let count = if is_text { size } else { default.len() };
    // SAFETY: the value has at least `count` bytes, as the C function requires of its caller.
    let bytes = unsafe { std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), count) };
    let mut bytes = bytes.to_vec();
    if is_text {
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(count));
        bytes.push(0);
    }
    lock(&SIMULATOR.tables.core_dump_settings).insert((context, attribute), bytes);
    Ok(())
}
