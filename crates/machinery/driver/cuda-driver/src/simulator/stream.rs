//! Streams, and host functions in them.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUhostFn, CUstream, CUstreamCallback};

use super::capture::{self, rules};
use super::queue::{self, WaitTarget};
use super::raw::{self, Out, Stream, handle};
use super::stream_op::{HostFunction, StreamOp};
use super::submit::{is_blocking, submit};
use super::{
    lock_current_context, lock_driver, lock_driver_drained, lock_live_stream, lock_stream,
};
use crate::status::CallResult;

/// `cuStreamCreate`.
pub unsafe fn create(stream: *mut CUstream, flags: c_uint) -> CallResult {
    // SAFETY: `stream` is null or writable, as `cuStreamCreate` requires of its caller.
    unsafe { create_with_priority(stream, flags, 0) }
}

/// `cuStreamCreateWithPriority`.
pub unsafe fn create_with_priority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> CallResult {
    // SAFETY: `stream` is null or writable, as `cuStreamCreateWithPriority` requires of its caller.
    let stream = unsafe { Out::new(stream) }?;
    let (mut driver, context) = lock_current_context()?;
    stream.set(handle(driver.create_stream(context, flags, priority)?.0));
    Ok(())
}

/// `cuStreamDestroy`.
pub unsafe fn destroy(stream: CUstream) -> CallResult {
    if raw::stream(stream) == Stream::PerThread {
        return Err(CudaError::InvalidHandle.into());
    }
    let (driver, context, stream) = lock_stream(stream)?;
    drop(driver);
    lock_driver_drained()?.destroy_stream(context, stream)?;
    capture::forget_stream(stream);
    Ok(())
}

/// `cuStreamGetFlags`.
pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> CallResult {
    // SAFETY: `flags` is null or writable, as `cuStreamGetFlags` requires of its caller.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context, stream) = lock_stream(stream)?;
    flags.set(driver.stream_flags(context, stream)?);
    Ok(())
}

/// `cuStreamGetPriority`.
pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> CallResult {
    // SAFETY: `priority` is null or writable, as `cuStreamGetPriority` requires of its caller.
    let priority = unsafe { Out::new(priority) }?;
    let (driver, context, stream) = lock_stream(stream)?;
    priority.set(driver.stream_priority(context, stream)?);
    Ok(())
}

/// `cuStreamQuery`. Fails if a capture forbids queries of streams.
pub unsafe fn query(stream: CUstream) -> CallResult {
    let (driver, context, stream) = lock_live_stream(stream)?;
    rules::check_stream_wait(context, stream)?;
    rules::check_safe()?;
    drop(driver);
    if !queue::is_done(WaitTarget::Stream(context, stream)) {
        return Err(CudaError::NotReady.into());
    }
    Ok(lock_driver()?.query_stream(context, stream)?)
}

/// `cuStreamSynchronize`.
pub unsafe fn synchronize(stream: CUstream) -> CallResult {
    let (driver, context, stream) = lock_live_stream(stream)?;
    rules::check_stream_wait(context, stream)?;
    drop(driver);
    queue::wait(WaitTarget::Stream(context, stream));
    Ok(lock_driver()?.synchronize_stream(context, stream)?)
}

/// `cuStreamWaitEvent`.
pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> CallResult {
    let (driver, context, stream) = lock_stream(stream)?;
    // `CU_EVENT_WAIT_DEFAULT` or `CU_EVENT_WAIT_EXTERNAL`, which only affects captures.
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let event = raw::event(event);
    driver.event_context(event)?;
    let blocking = is_blocking(&driver, context, stream)?;
    if capture::wait_event(context, stream, blocking, event, flags == 1)? {
        return Ok(());
    }
    Ok(submit(driver, context, stream, StreamOp::WaitEvent(event))?)
}

/// `cuLaunchHostFunc`: calls the function when all earlier operations of the stream have completed. Takes no
/// modelled time.
pub unsafe fn launch_host_func(
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> CallResult {
    if function.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = lock_live_stream(stream)?;
    let work = StreamOp::Host(HostFunction::Plain { function, data });
    Ok(submit(driver, context, stream, work)?)
}

/// `cuStreamAddCallback`: the older form of [`launch_host_func`], which cannot be captured.
pub unsafe fn callback(
    stream: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> CallResult {
    if function.is_none() || flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, h_stream) = lock_live_stream(stream)?;
    rules::check_uncapturable(context, h_stream)?;
    let work = StreamOp::Host(HostFunction::Callback {
        function,
        stream,
        data,
    });
    Ok(submit(driver, context, h_stream, work)?)
}
