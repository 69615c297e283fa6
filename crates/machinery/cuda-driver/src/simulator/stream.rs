//! Streams, and host functions in them.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUhostFn, CUstream, CUstreamCallback};

use super::capture::{self, rules};
use super::queue::{self, Awaited};
use super::raw::{self, Out, Stream, handle};
use super::submit::{is_blocking, submit};
use super::work::{HostFunction, Work};
use super::{current_machine, driver, in_live_stream, in_stream, machine};
use crate::status::Answer;

/// `cuStreamCreate`.
pub unsafe fn create(stream: *mut CUstream, flags: c_uint) -> Answer {
    // SAFETY: `stream` is null or writable, as `cuStreamCreate` requires of its caller.
    unsafe { create_with_priority(stream, flags, 0) }
}

/// `cuStreamCreateWithPriority`.
pub unsafe fn create_with_priority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Answer {
    // SAFETY: `stream` is null or writable, as `cuStreamCreateWithPriority` requires of its caller.
    let stream = unsafe { Out::new(stream) }?;
    let (mut driver, context) = current_machine()?;
    stream.set(handle(driver.create_stream(context, flags, priority)?.0));
    Ok(())
}

/// `cuStreamDestroy`.
pub unsafe fn destroy(stream: CUstream) -> Answer {
    if raw::stream(stream) == Stream::PerThread {
        return Err(CudaError::InvalidHandle.into());
    }
    let (found, context, stream) = in_stream(stream)?;
    drop(found);
    driver()?.destroy_stream(context, stream)?;
    capture::forget_stream(stream);
    Ok(())
}

/// `cuStreamGetFlags`.
pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> Answer {
    // SAFETY: `flags` is null or writable, as `cuStreamGetFlags` requires of its caller.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context, stream) = in_stream(stream)?;
    flags.set(driver.stream_flags(context, stream)?);
    Ok(())
}

/// `cuStreamGetPriority`.
pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> Answer {
    // SAFETY: `priority` is null or writable, as `cuStreamGetPriority` requires of its caller.
    let priority = unsafe { Out::new(priority) }?;
    let (driver, context, stream) = in_stream(stream)?;
    priority.set(driver.stream_priority(context, stream)?);
    Ok(())
}

/// `cuStreamQuery`. Fails if a capture forbids queries of streams.
pub unsafe fn query(stream: CUstream) -> Answer {
    let (driver, context, stream) = in_live_stream(stream)?;
    rules::may_wait(context, stream)?;
    rules::safe()?;
    drop(driver);
    if !queue::is_done(Awaited::Stream(context, stream)) {
        return Err(CudaError::NotReady.into());
    }
    Ok(machine()?.query_stream(context, stream)?)
}

/// `cuStreamSynchronize`.
pub unsafe fn synchronize(stream: CUstream) -> Answer {
    let (driver, context, stream) = in_live_stream(stream)?;
    rules::may_wait(context, stream)?;
    drop(driver);
    queue::wait(Awaited::Stream(context, stream));
    Ok(machine()?.synchronize_stream(context, stream)?)
}

/// `cuStreamWaitEvent`.
pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    let (driver, context, stream) = in_stream(stream)?;
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
    Ok(submit(driver, context, stream, Work::WaitEvent(event))?)
}

/// `cuLaunchHostFunc`: calls the function when all earlier operations of the stream have completed. Takes no
/// modelled
/// time.
pub unsafe fn host_function(stream: CUstream, function: CUhostFn, data: *mut c_void) -> Answer {
    if function.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = in_live_stream(stream)?;
    let work = Work::Host(HostFunction::Plain { function, data });
    Ok(submit(driver, context, stream, work)?)
}

/// `cuStreamAddCallback`: the older form of [`host_function`], which cannot be captured.
pub unsafe fn callback(
    stream: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    if function.is_none() || flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, on) = in_live_stream(stream)?;
    rules::uncapturable(context, on)?;
    let work = Work::Host(HostFunction::Callback {
        function,
        stream,
        data,
    });
    Ok(submit(driver, context, on, work)?)
}
