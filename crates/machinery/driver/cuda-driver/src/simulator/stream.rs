//! Streams, and host functions in them.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::{CudaError, EventId};
use cust_raw::{CUhostFn, CUstream, CUstreamCallback};

use super::arguments::{Out, Stream, handle};
use super::capture::{self, rules};
use super::queue::{self, WaitTarget};
use super::stream_op::{HostFunction, StreamOp};
use super::submit::{is_blocking, submit};
use super::{
    lock_current_context, lock_driver, lock_driver_drained, lock_live_stream, lock_stream,
};
use crate::status::CallResult;

/// `cuStreamCreate`.
pub fn create(stream: Out<CUstream>, flags: c_uint) -> CallResult {
    create_with_priority(stream, flags, 0)
}

/// `cuStreamCreateWithPriority`.
pub fn create_with_priority(stream: Out<CUstream>, flags: c_uint, priority: c_int) -> CallResult {
    let (mut driver, context) = lock_current_context()?;
    stream.set(handle(driver.create_stream(context, flags, priority)?.0));
    Ok(())
}

/// `cuStreamDestroy`.
pub fn destroy(stream: Stream) -> CallResult {
    if stream == Stream::PerThread {
        return Err(CudaError::InvalidHandle.into());
    }
    let (driver, context, stream) = lock_stream(stream)?;
    drop(driver);
    lock_driver_drained()?.destroy_stream(context, stream)?;
    capture::forget_stream(stream);
    Ok(())
}

/// `cuStreamGetFlags`.
pub fn flags(stream: Stream, flags: Out<c_uint>) -> CallResult {
    let (driver, context, stream) = lock_stream(stream)?;
    flags.set(driver.stream_flags(context, stream)?);
    Ok(())
}

/// `cuStreamGetPriority`.
pub fn priority(stream: Stream, priority: Out<c_int>) -> CallResult {
    let (driver, context, stream) = lock_stream(stream)?;
    priority.set(driver.stream_priority(context, stream)?);
    Ok(())
}

/// `cuStreamQuery`. Fails if a capture forbids queries of streams.
pub fn query(stream: Stream) -> CallResult {
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
pub fn synchronize(stream: Stream) -> CallResult {
    let (driver, context, stream) = lock_live_stream(stream)?;
    rules::check_stream_wait(context, stream)?;
    drop(driver);
    queue::wait(WaitTarget::Stream(context, stream));
    Ok(lock_driver()?.synchronize_stream(context, stream)?)
}

/// `cuStreamWaitEvent`.
pub fn wait_event(stream: Stream, event: EventId, flags: c_uint) -> CallResult {
    let (driver, context, stream) = lock_stream(stream)?;
    // `CU_EVENT_WAIT_DEFAULT` or `CU_EVENT_WAIT_EXTERNAL`, which only affects captures.
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    driver.event_context(event)?;
    let blocking = is_blocking(&driver, context, stream)?;
    if capture::wait_event(context, stream, blocking, event, flags == 1)? {
        return Ok(());
    }
    Ok(submit(driver, context, stream, StreamOp::WaitEvent(event))?)
}

/// `cuLaunchHostFunc`: calls the function when all earlier operations of the stream have completed. Takes no
/// modelled time.
pub fn launch_host_func(stream: Stream, function: CUhostFn, data: *mut c_void) -> CallResult {
    if function.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = lock_live_stream(stream)?;
    let work = StreamOp::Host(HostFunction::Plain { function, data });
    Ok(submit(driver, context, stream, work)?)
}

/// `cuStreamAddCallback`: the older form of [`launch_host_func`], which cannot be captured.
pub fn callback(
    stream: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> CallResult {
    if function.is_none() || flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, number) = lock_live_stream(stream)?;
    rules::check_uncapturable(context, number)?;
    let work = StreamOp::Host(HostFunction::Callback {
        function,
        stream,
        data,
    });
    Ok(submit(driver, context, number, work)?)
}
