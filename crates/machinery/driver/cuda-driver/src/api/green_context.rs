//! Resources of devices, and green contexts: contexts on some of a device's SMs. A green context works in the device's
//! primary context, which it retains. Its number of SMs is recorded but does not restrict where blocks run.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{ContextId, CudaError, EventId};

use super::device::check_device;
use super::{SIMULATOR, context, event};
use crate::arguments::{In, InOut, Out, handle, number};
use crate::simulator::{GreenContext, Stream, lock};
use crate::status::CallResult;
use crate::types::{CUcontext, CUdevResource, CUdevice, CUstream};

/// `CU_DEV_RESOURCE_TYPE_SM`, the only type.
const SMS: c_int = 1;

/// `CU_GREEN_CTX_DEFAULT_STREAM`, which is required, and `CU_STREAM_NON_BLOCKING`, which streams of green contexts need.
const DEFAULT_STREAM: c_uint = 1;
const NON_BLOCKING: c_uint = 1;

/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`.
const MULTIPROCESSORS: c_int = 16;

/// Returns the minimum number of SMs of a partition, and the number whose multiples partitions have. Source: CUDA Driver
/// API, `cuDevSmResourceSplitByCount`.
fn granularity() -> Result<[c_uint; 2], CudaError> {
    let capability = SIMULATOR.lock_driver()?.device().compute_capability;
    Ok(match capability.0 {
        9.. => [8, 8],
        8 => [4, 2],
        7 => [2, 2],
        _ => [1, 1],
    })
}

/// Returns the resource of a number of SMs.
fn resource(sms: c_uint) -> Result<CUdevResource, CudaError> {
    let [minimum, multiple] = granularity()?;
    Ok(CUdevResource {
        kind: SMS,
        reserved: [0; 23],
        sms: [sms, minimum, multiple],
        unused: [0; 9],
    })
}

/// Returns the resource of a type and a number of SMs.
fn resource_of_type(kind: c_int, sms: c_uint) -> Result<CUdevResource, CudaError> {
    match kind {
        SMS => resource(sms),
        _ => Err(CudaError::InvalidResourceType),
    }
}

/// Returns the number of SMs of a device.
fn sms_of_device() -> Result<c_uint, CudaError> {
    Ok(SIMULATOR.lock_driver()?.device_attribute(MULTIPROCESSORS)? as c_uint)
}

/// `cuDeviceGetDevResource`.
pub fn of_device(device: CUdevice, out: Out<CUdevResource>, kind: c_int) -> CallResult {
    check_device(device)?;
    out.set(resource_of_type(kind, sms_of_device()?)?);
    Ok(())
}

/// `cuCtxGetDevResource`.
pub fn of_context(context: Option<ContextId>, out: Out<CUdevResource>, kind: c_int) -> CallResult {
    let context = context.ok_or(CudaError::InvalidContext)?;
    SIMULATOR.lock_driver()?.context_device(context)?;
    out.set(resource_of_type(kind, sms_of_device()?)?);
    Ok(())
}

/// `cuGreenCtxGetDevResource`.
pub fn of_green(green: *mut c_void, out: Out<CUdevResource>, kind: c_int) -> CallResult {
    out.set(resource_of_type(kind, find(green)?.sms)?);
    Ok(())
}

/// `cuDevSmResourceSplitByCount`: splits SMs into groups of at least `minimum`, or counts the groups if there is no room
/// for them.
pub fn split(
    groups: Option<Out<CUdevResource>>,
    count: InOut<c_uint>,
    input: In<CUdevResource>,
    remaining: Option<Out<CUdevResource>>,
    _flags: c_uint,
    minimum: c_uint,
) -> CallResult {
    let input = input.read();
    if input.kind != SMS {
        return Err(CudaError::InvalidResourceType.into());
    }
    let [least, multiple] = granularity()?;
    let available = input.sms[0];
    let group = minimum.max(least).checked_next_multiple_of(multiple);
    let group = group.filter(|group| *group <= available);
    let group = group.ok_or(CudaError::InvalidResourceConfiguration)?;
    let mut number = available / group;
    if let Some(groups) = groups {
        number = number.min(count.read());
        let part = resource(group)?;
        // SAFETY: the C function requires room for the number of groups that its caller states.
        unsafe { groups.set_all(std::iter::repeat_n(part, number as usize)) };
    }
    count.set(number);
    Out::set_optional(remaining, resource(available - number * group)?);
    Ok(())
}

/// `cuDevResourceGenerateDesc`: the handle's number is that of a table entry with the number of SMs.
pub fn describe(out: Out<*mut c_void>, resources: In<CUdevResource>, count: c_uint) -> CallResult {
    // SAFETY: the list has `count` elements, as `cuDevResourceGenerateDesc` requires of its caller.
    let resources = unsafe { resources.read_all(count as usize) };
    if resources.is_empty() {
        return Err(CudaError::InvalidValue.into());
    }
    if resources.iter().any(|resource| resource.kind != SMS) {
        return Err(CudaError::InvalidResourceType.into());
    }
    let sms = resources.iter().map(|resource| resource.sms[0]).sum();
    out.set(handle(lock(&SIMULATOR.tables.green_contexts).describe(sms)));
    Ok(())
}

/// `cuGreenCtxCreate`.
pub fn create(
    out: Out<*mut c_void>,
    description: *mut c_void,
    device: CUdevice,
    flags: c_uint,
) -> CallResult {
    let device = check_device(device)?;
    let sms = lock(&SIMULATOR.tables.green_contexts).description(number(description));
    let sms = sms.ok_or(CudaError::InvalidValue)?;
    if flags != DEFAULT_STREAM {
        return Err(CudaError::InvalidValue.into());
    }
    let primary = SIMULATOR.lock_driver()?.retain_primary(device)?;
    let context = SIMULATOR.known_contexts.register(primary);
    let green = GreenContext {
        device,
        context,
        sms,
    };
    out.set(handle(lock(&SIMULATOR.tables.green_contexts).create(green)));
    Ok(())
}

/// `cuGreenCtxDestroy`.
pub fn destroy(green: *mut c_void) -> CallResult {
    let removed = lock(&SIMULATOR.tables.green_contexts).destroy(number(green));
    context::release_primary(removed.ok_or(CudaError::InvalidContext)?.device as CUdevice)
}

/// `cuCtxFromGreenCtx`.
pub fn to_context(out: Out<CUcontext>, green: *mut c_void) -> CallResult {
    out.set(handle(find(green)?.context.0));
    Ok(())
}

/// `cuGreenCtxGetId`.
pub fn id(green: *mut c_void, out: Out<c_ulonglong>) -> CallResult {
    find(green)?;
    out.set(number(green));
    Ok(())
}

/// `cuGreenCtxStreamCreate`.
pub fn create_stream(
    out: Out<CUstream>,
    green: *mut c_void,
    flags: c_uint,
    priority: c_int,
) -> CallResult {
    let context = find(green)?.context;
    if flags != NON_BLOCKING {
        return Err(CudaError::InvalidValue.into());
    }
    let created = SIMULATOR
        .lock_driver()?
        .create_stream(context, flags, priority)?;
    SIMULATOR.stream_order.add_stream(created);
    lock(&SIMULATOR.tables.green_contexts).add_stream(created, number(green));
    out.set(handle(created.0));
    Ok(())
}

/// `cuStreamGetGreenCtx`: null for a stream of another context.
pub fn of_stream(stream: Stream, out: Out<*mut c_void>) -> CallResult {
    let (_driver, _, stream) = SIMULATOR.lock_live_stream(stream)?;
    out.set(handle(
        lock(&SIMULATOR.tables.green_contexts).of_stream(stream),
    ));
    Ok(())
}

/// `cuGreenCtxRecordEvent`.
pub fn record(green: *mut c_void, event: EventId) -> CallResult {
    event::record_in_context(Some(find(green)?.context), event)
}

/// `cuGreenCtxWaitEvent`.
pub fn wait(green: *mut c_void, event: EventId) -> CallResult {
    event::wait_in_context(Some(find(green)?.context), event)
}

/// Returns a green context, or [`CudaError::InvalidContext`].
fn find(green: *mut c_void) -> Result<GreenContext, CudaError> {
    let contexts = lock(&SIMULATOR.tables.green_contexts);
    contexts
        .find(number(green))
        .ok_or(CudaError::InvalidContext)
}
