//! Events and elapsed time.

use std::ffi::c_uint;

use cuda_sim::driver::{CudaError, EventId};
use cust_raw::CUevent;

use super::arguments::{Out, Stream, handle};
use super::capture::{self, rules};
use super::queue::{self, WaitTarget};
use super::stream_op::StreamOp;
use super::submit::submit;
use super::{lock_current_context, lock_driver, lock_driver_drained, lock_live_stream};
use crate::status::CallResult;

/// `cuEventCreate`.
pub fn create(event: Out<CUevent>, flags: c_uint) -> CallResult {
    let (mut driver, context) = lock_current_context()?;
    event.set(handle(driver.create_event(context, flags)?.0));
    Ok(())
}

/// `cuEventDestroy`.
pub fn destroy(event: EventId) -> CallResult {
    lock_driver_drained()?.destroy_event(event)?;
    capture::forget_event(event);
    Ok(())
}

/// `cuEventRecord`.
pub fn record(event: EventId, stream: Stream) -> CallResult {
    record_with_flags(event, stream, 0)
}

/// `cuEventRecordWithFlags`: with the only flag, `CU_EVENT_RECORD_EXTERNAL`, a capture makes a node that
/// records the event at each launch of its graph.
pub fn record_with_flags(event: EventId, stream: Stream, flags: c_uint) -> CallResult {
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = lock_live_stream(stream)?;
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
pub fn query(event: EventId) -> CallResult {
    rules::check_event_wait(event)?;
    lock_driver()?.event_context(event)?;
    rules::check_safe()?;
    if !queue::is_done(WaitTarget::Event(event)) {
        return Err(CudaError::NotReady.into());
    }
    Ok(lock_driver()?.query_event(event)?)
}

/// `cuEventSynchronize`. Fails if a capture forbids waiting for events.
pub fn synchronize(event: EventId) -> CallResult {
    rules::check_event_wait(event)?;
    lock_driver()?.event_context(event)?;
    rules::check_safe()?;
    queue::wait(WaitTarget::Event(event));
    Ok(lock_driver()?.synchronize_event(event)?)
}

/// `cuEventElapsedTime`.
pub fn elapsed_time(milliseconds: Out<f32>, start: EventId, end: EventId) -> CallResult {
    rules::check_event_wait(start)?;
    rules::check_event_wait(end)?;
    lock_driver()?.check_elapsed(start, end)?;
    for event in [start, end] {
        if queue::is_pending(WaitTarget::Event(event)) {
            return Err(CudaError::NotReady.into());
        }
    }
    milliseconds.set(lock_driver()?.elapsed_time(start, end)?);
    Ok(())
}
