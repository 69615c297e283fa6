//! Events and elapsed time.

use std::ffi::c_uint;

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUstream};

use super::capture::{self, rules};
use super::queue::{self, WaitTarget};
use super::raw::{self, Out, handle};
use super::stream_op::StreamOp;
use super::submit::submit;
use super::{lock_current_context, lock_driver, lock_driver_drained, lock_live_stream};
use crate::status::CallResult;

/// `cuEventCreate`.
pub unsafe fn create(event: *mut CUevent, flags: c_uint) -> CallResult {
    // SAFETY: `event` is null or writable, as `cuEventCreate` requires of its caller.
    let event = unsafe { Out::new(event) }?;
    let (mut driver, context) = lock_current_context()?;
    event.set(handle(driver.create_event(context, flags)?.0));
    Ok(())
}

/// `cuEventDestroy`.
pub unsafe fn destroy(event: CUevent) -> CallResult {
    lock_driver_drained()?.destroy_event(raw::event(event))?;
    capture::forget_event(raw::event(event));
    Ok(())
}

/// `cuEventRecord`.
pub unsafe fn record(event: CUevent, stream: CUstream) -> CallResult {
    // SAFETY: `record_with_flags` dereferences no pointer: both handles are only looked up.
    unsafe { record_with_flags(event, stream, 0) }
}

/// `cuEventRecordWithFlags`: with the only flag, `CU_EVENT_RECORD_EXTERNAL`, a capture makes a node that
/// records the event at each launch of its graph.
pub unsafe fn record_with_flags(event: CUevent, stream: CUstream, flags: c_uint) -> CallResult {
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = lock_live_stream(stream)?;
    let event = raw::event(event);
    if driver.event_context(event)? != context {
        return Err(CudaError::InvalidHandle.into());
    }
    if capture::record_event(context, stream, event, flags == 1)? {
        return Ok(());
    }
    Ok(submit(
        driver,
        context,
        stream,
        StreamOp::RecordEvent(event),
    )?)
}

/// `cuEventQuery`. Fails if a capture forbids queries of events.
pub unsafe fn query(event: CUevent) -> CallResult {
    let event = raw::event(event);
    rules::check_event_wait(event)?;
    lock_driver()?.event_context(event)?;
    rules::check_safe()?;
    if !queue::is_done(WaitTarget::Event(event)) {
        return Err(CudaError::NotReady.into());
    }
    Ok(lock_driver()?.query_event(event)?)
}

/// `cuEventSynchronize`. Fails if a capture forbids waiting for events.
pub unsafe fn synchronize(event: CUevent) -> CallResult {
    let event = raw::event(event);
    rules::check_event_wait(event)?;
    lock_driver()?.event_context(event)?;
    rules::check_safe()?;
    queue::wait(WaitTarget::Event(event));
    Ok(lock_driver()?.synchronize_event(event)?)
}

/// `cuEventElapsedTime`.
pub unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> CallResult {
    // SAFETY: `milliseconds` is null or writable, as `cuEventElapsedTime` requires of its caller.
    let milliseconds = unsafe { Out::new(milliseconds) }?;
    rules::check_event_wait(raw::event(start))?;
    rules::check_event_wait(raw::event(end))?;
    lock_driver()?.check_elapsed(raw::event(start), raw::event(end))?;
    for event in [start, end] {
        if queue::is_pending(WaitTarget::Event(raw::event(event))) {
            return Err(CudaError::NotReady.into());
        }
    }
    milliseconds.set(lock_driver()?.elapsed_time(raw::event(start), raw::event(end))?);
    Ok(())
}
