//! Events and elapsed time.

use std::ffi::c_uint;

use cuda_sim::check::Reason;
use cuda_sim::driver::{ContextId, CudaError, EventId};

use super::SIMULATOR;
use crate::arguments::{Out, handle};
use crate::simulator::{Destroyed, Stream, StreamOp, WaitTarget};
use crate::status::CallResult;
use crate::types::CUevent;

/// `CU_EVENT_RECORD_EXTERNAL`.
const EXTERNAL: c_uint = 1;

/// `cuEventCreate`.
pub fn create(event: Out<CUevent>, flags: c_uint) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context()?;
    event.set(handle(driver.create_event(context, flags)?.0));
    Ok(())
}

/// `cuEventDestroy`.
pub fn destroy(event: EventId) -> CallResult {
    SIMULATOR.lock_driver_settled()?.invalidate_event(event)?;
    SIMULATOR.captures.forget_event(event);
    SIMULATOR.shared_events.remove(event);
    SIMULATOR.destroy_when_unused(Destroyed::Event(event));
    Ok(())
}

/// `cuEventRecord`.
pub fn record(event: EventId, stream: Stream) -> CallResult {
    record_with_flags(event, stream, 0)
}

/// `cuEventRecordWithFlags`: with the only flag, `CU_EVENT_RECORD_EXTERNAL`, a capture makes a node that
/// records the event at each launch of its graph. Outside of captures, the flag is an error.
pub fn record_with_flags(event: EventId, stream: Stream, flags: c_uint) -> CallResult {
    if flags > EXTERNAL {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    if driver.event_context(event)? != context {
        return Err(CudaError::InvalidHandle.into());
    }
    if SIMULATOR.captures.record_event(
        &SIMULATOR.graphs,
        context,
        stream,
        event,
        flags == EXTERNAL,
    )? {
        return Ok(());
    }
    if flags == EXTERNAL {
        return Err(CudaError::IllegalState.into());
    }
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::RecordEvent(event))?)
}

/// `cuCtxRecordEvent`: records an event after the earlier operations of all streams of a context.
pub fn record_in_context(context: Option<ContextId>, event: EventId) -> CallResult {
    let context = context.ok_or(CudaError::InvalidContext)?;
    if context_of(event)? != context {
        return Err(CudaError::InvalidHandle.into());
    }
    Ok(SIMULATOR.submit_to_context(context, StreamOp::RecordInContext(event))?)
}

/// `cuCtxWaitEvent`: delays the later operations of all streams of a context.
pub fn wait_in_context(context: Option<ContextId>, event: EventId) -> CallResult {
    let context = context.ok_or(CudaError::InvalidContext)?;
    context_of(event)?;
    if !SIMULATOR.lock_driver()?.is_context(context) {
        return Err(CudaError::InvalidContext.into());
    }
    Ok(SIMULATOR.submit_to_context(context, StreamOp::WaitInContext(event))?)
}

/// Returns the context of an event.
fn context_of(event: EventId) -> Result<ContextId, CudaError> {
    SIMULATOR.lock_driver()?.event_context(event)
}

/// `cuEventQuery`. Fails if a capture forbids queries of events.
pub fn query(event: EventId) -> CallResult {
    SIMULATOR.captures.check_event_wait(event)?;
    SIMULATOR.lock_driver()?.event_context(event)?;
    SIMULATOR.check_safe()?;
    if !SIMULATOR.is_done(WaitTarget::Event(event)) {
        return Err(CudaError::NotReady.into());
    }
    let shared = SIMULATOR.shared_events.last_recording(event);
    if shared.is_some_and(|recording| !recording.is_complete()) {
        return Err(CudaError::NotReady.into());
    }
    SIMULATOR.lock_driver()?.query_event(event)?;
    SIMULATOR.host_waited(WaitTarget::Event(event));
    Ok(())
}

/// `cuEventSynchronize`. Fails if a capture forbids waiting for events.
pub fn synchronize(event: EventId) -> CallResult {
    SIMULATOR.captures.check_event_wait(event)?;
    SIMULATOR.lock_driver()?.event_context(event)?;
    SIMULATOR.check_safe()?;
    SIMULATOR.wait(WaitTarget::Event(event));
    if let Some(recording) = SIMULATOR.shared_events.last_recording(event) {
        recording.wait();
    }
    SIMULATOR.host_waited(WaitTarget::Event(event));
    Ok(SIMULATOR.lock_driver()?.synchronize_event(event)?)
}

/// `cuEventElapsedTime`. Returns [`CudaError::InvalidHandle`] for a null result, as the driver does.
pub fn elapsed_time(milliseconds: Option<Out<f32>>, start: EventId, end: EventId) -> CallResult {
    let milliseconds = milliseconds.ok_or(CudaError::InvalidHandle)?;
    SIMULATOR.captures.check_event_wait(start)?;
    SIMULATOR.captures.check_event_wait(end)?;
    SIMULATOR.lock_driver()?.check_elapsed(start, end)?;
    let is_pending = |event| SIMULATOR.queue.contains(WaitTarget::Event(event), u64::MAX);
    for event in [start, end] {
        if !is_pending(event) && !SIMULATOR.lock_driver()?.is_recorded(event)? {
            return Err(CudaError::InvalidHandle
                .because(Reason::EventNotRecorded)
                .into());
        }
    }
    for event in [start, end] {
        if is_pending(event) {
            return Err(CudaError::NotReady
                .because(Reason::EventNotCompleted)
                .into());
        }
        SIMULATOR.host_waited(WaitTarget::Event(event));
    }
    milliseconds.set(SIMULATOR.lock_driver()?.elapsed_time(start, end)?);
    Ok(())
}
