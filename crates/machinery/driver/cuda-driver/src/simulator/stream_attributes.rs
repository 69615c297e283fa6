//! Properties of streams: context, device, number and attributes.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{CudaError, StreamId};
use cuda_sim::memory::global::AllocationKind;
use cust_raw::{CUcontext, CUdevice, CUdeviceptr, CUstream};

use super::raw::{Out, handle, write_if_not_null};
use super::{SIMULATOR, lock_mutex, lock_stream};
use crate::status::CallResult;
use crate::types::CUlaunchAttributeValue;

/// The values of `CUstreamAttrID`: access policy window of the L2 cache, synchronization policy, priority,
/// and two for memory synchronization domains. All are hints without effect.
const ATTRIBUTES: [c_int; 5] = [1, 3, 8, 9, 10];
const PRIORITY: c_int = 8;

/// `cuStreamGetCtx`.
pub unsafe fn context(stream: CUstream, context: *mut CUcontext) -> CallResult {
    // SAFETY: `context` is null or writable, as `cuStreamGetCtx` requires of its caller.
    let context = unsafe { Out::new(context) }?;
    context.set(handle(live_stream(stream)?.0));
    Ok(())
}

/// `cuStreamGetCtx_v2` of CUDA 12.5: there are no green contexts.
pub unsafe fn contexts(
    stream: CUstream,
    context: *mut CUcontext,
    green: *mut *mut c_void,
) -> CallResult {
    // SAFETY: `context` and `green` are null or writable, as `cuStreamGetCtx_v2` requires of its caller.
    unsafe {
        self::context(stream, context)?;
        write_if_not_null(green, std::ptr::null_mut());
    }
    Ok(())
}

/// `cuStreamGetDevice`.
pub unsafe fn device(stream: CUstream, device: *mut CUdevice) -> CallResult {
    // SAFETY: `device` is null or writable, as `cuStreamGetDevice` requires of its caller.
    let device = unsafe { Out::new(device) }?;
    live_stream(stream)?;
    device.set(0);
    Ok(())
}

/// `cuStreamGetId`: a unique number. The handle's number serves as the ID; a default stream has its context's
/// number.
pub unsafe fn id(stream: CUstream, id: *mut c_ulonglong) -> CallResult {
    // SAFETY: `id` is null or writable, as `cuStreamGetId` requires of its caller.
    let id = unsafe { Out::new(id) }?;
    let (context, stream) = live_stream(stream)?;
    id.set(match stream {
        StreamId::LEGACY => context,
        StreamId(number) => number,
    });
    Ok(())
}

/// Returns the context's number and the number of a stream, after a check that the stream exists.
fn live_stream(stream: CUstream) -> Result<(u64, StreamId), CudaError> {
    let (driver, context, stream) = lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    Ok((context.0, stream))
}

/// `cuStreamGetAttribute`: zeros for attributes that are not set, except the stream's priority.
pub unsafe fn attribute(
    stream: CUstream,
    attribute: c_int,
    value: *mut CUlaunchAttributeValue,
) -> CallResult {
    // SAFETY: `value` is null or writable, as `cuStreamGetAttribute` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let (driver, context, stream) = lock_stream(stream)?;
    let priority = driver.stream_priority(context, stream)?;
    drop(driver);
    check_attribute(attribute)?;
    let mut default_value = CUlaunchAttributeValue([0; 16]);
    if attribute == PRIORITY {
        default_value.0[0] = priority as c_uint;
    }
    let stored = lock_mutex(&SIMULATOR.stream_attributes)
        .get(&(stream, attribute))
        .copied();
    value.set(stored.unwrap_or(default_value));
    Ok(())
}

/// `cuStreamSetAttribute`.
pub unsafe fn set_attribute(
    stream: CUstream,
    attribute: c_int,
    value: *const CUlaunchAttributeValue,
) -> CallResult {
    // SAFETY: `value` is null or readable, as `cuStreamSetAttribute` requires of its caller.
    let value = unsafe { value.as_ref() }.ok_or(CudaError::InvalidValue)?;
    let (_, stream) = live_stream(stream)?;
    check_attribute(attribute)?;
    lock_mutex(&SIMULATOR.stream_attributes).insert((stream, attribute), *value);
    Ok(())
}

fn check_attribute(attribute: c_int) -> Result<(), CudaError> {
    let valid = ATTRIBUTES.contains(&attribute);
    valid.then_some(()).ok_or(CudaError::InvalidValue)
}

/// `cuStreamCopyAttributes`.
pub unsafe fn copy_attributes(to: CUstream, from: CUstream) -> CallResult {
    let ((_, to), (_, from)) = (live_stream(to)?, live_stream(from)?);
    let mut stored = lock_mutex(&SIMULATOR.stream_attributes);
    for attribute in ATTRIBUTES {
        if let Some(&value) = stored.get(&(from, attribute)) {
            stored.insert((to, attribute), value);
        }
    }
    Ok(())
}

/// `cuStreamAttachMemAsync`: validated, but without effect, because managed memory is always accessible from
/// everywhere. A length of 0 means the entire allocation.
pub unsafe fn attach(
    stream: CUstream,
    address: CUdeviceptr,
    bytes: usize,
    flags: c_uint,
) -> CallResult {
    /// `CU_MEM_ATTACH_GLOBAL`, `CU_MEM_ATTACH_HOST` and `CU_MEM_ATTACH_SINGLE`.
    const FLAGS: [c_uint; 3] = [1, 2, 4];
    let (driver, context, stream) = lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    let default_value = driver.allocation(address)?;
    let is_entire =
        bytes == 0 || (default_value.base == address && bytes as u64 == default_value.size);
    let is_host_accessible = matches!(
        default_value.kind,
        AllocationKind::Managed | AllocationKind::Registered
    );
    if !FLAGS.contains(&flags) || !is_entire || !is_host_accessible {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}
