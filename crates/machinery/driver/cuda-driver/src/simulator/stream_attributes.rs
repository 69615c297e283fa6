//! Properties of streams: context, device, number and attributes.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{CudaError, StreamId};
use cuda_sim::memory::global::AllocationKind;
use cust_raw::{CUcontext, CUdevice, CUdeviceptr};

use super::arguments::{In, Out, Stream, handle};
use super::{SIMULATOR, lock_mutex, lock_stream};
use crate::status::CallResult;
use crate::types::CUlaunchAttributeValue;

/// The values of `CUstreamAttrID`: access policy window of the L2 cache, synchronization policy, priority,
/// and two for memory synchronization domains. All are hints without effect.
const ATTRIBUTES: [c_int; 5] = [1, 3, 8, 9, 10];
const PRIORITY: c_int = 8;

/// `cuStreamGetCtx`.
pub fn context(stream: Stream, context: Out<CUcontext>) -> CallResult {
    context.set(handle(live_stream(stream)?.0));
    Ok(())
}

/// `cuStreamGetCtx_v2` of CUDA 12.5: there are no green contexts.
pub fn contexts(
    stream: Stream,
    context: Out<CUcontext>,
    green: Option<Out<*mut c_void>>,
) -> CallResult {
    self::context(stream, context)?;
    Out::set_optional(green, std::ptr::null_mut());
    Ok(())
}

/// `cuStreamGetDevice`.
pub fn device(stream: Stream, device: Out<CUdevice>) -> CallResult {
    live_stream(stream)?;
    device.set(0);
    Ok(())
}

/// `cuStreamGetId`: a unique number. The handle's number serves as the ID; a default stream has its context's
/// number.
pub fn id(stream: Stream, id: Out<c_ulonglong>) -> CallResult {
    let (context, stream) = live_stream(stream)?;
    id.set(match stream {
        StreamId::LEGACY => context,
        StreamId(number) => number,
    });
    Ok(())
}

/// Returns the context's number and the number of a stream, after a check that the stream exists.
fn live_stream(stream: Stream) -> Result<(u64, StreamId), CudaError> {
    let (driver, context, stream) = lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    Ok((context.0, stream))
}

/// `cuStreamGetAttribute`: zeros for attributes that are not set, except the stream's priority.
pub fn attribute(
    stream: Stream,
    attribute: c_int,
    value: Out<CUlaunchAttributeValue>,
) -> CallResult {
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
pub fn set_attribute(
    stream: Stream,
    attribute: c_int,
    value: In<CUlaunchAttributeValue>,
) -> CallResult {
    let (_, stream) = live_stream(stream)?;
    check_attribute(attribute)?;
    lock_mutex(&SIMULATOR.stream_attributes).insert((stream, attribute), value.read());
    Ok(())
}

fn check_attribute(attribute: c_int) -> Result<(), CudaError> {
    let valid = ATTRIBUTES.contains(&attribute);
    valid.then_some(()).ok_or(CudaError::InvalidValue)
}

/// `cuStreamCopyAttributes`.
pub fn copy_attributes(to: Stream, from: Stream) -> CallResult {
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
pub fn attach(stream: Stream, address: CUdeviceptr, bytes: usize, flags: c_uint) -> CallResult {
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
