//! Events and elapsed time.

use std::ffi::c_uint;

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUstream};

use super::capture::{self, rules};
use super::queue::{self, Awaited};
use super::raw::{self, Out, handle};
use super::submit::submit;
use super::work::Work;
use super::{current_machine, driver, in_live_stream, machine};
use crate::status::Answer;

/// `cuEventCreate`.
pub unsafe fn create(event: *mut CUevent, flags: c_uint) -> Answer {
    // SAFETY: `event` is null or writable, as `cuEventCreate` requires of its caller.
    let event = unsafe { Out::new(event) }?;
    let (mut driver, context) = current_machine()?;
    event.set(handle(driver.create_event(context, flags)?.0));
    Ok(())
}

/// `cuEventDestroy`.
pub unsafe fn destroy(event: CUevent) -> Answer {
    driver()?.destroy_event(raw::event(event))?;
    capture::forget_event(raw::event(event));
    Ok(())
}

/// `cuEventRecord`.
pub unsafe fn record(event: CUevent, stream: CUstream) -> Answer {
    // SAFETY: `record_with_flags` dereferences no pointer: both handles are only looked up.
    unsafe { record_with_flags(event, stream, 0) }
}

/// `cuEventRecordWithFlags`: with the only flag, `CU_EVENT_RECORD_EXTERNAL`, a capture makes a node that
/// records the event
/// at each launch of its graph.
pub unsafe fn record_with_flags(event: CUevent, stream: CUstream, flags: c_uint) -> Answer {
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = in_live_stream(stream)?;
    let event = raw::event(event);
    if driver.event_context(event)? != context {
        return Err(CudaError::InvalidHandle.into());
    }
    if capture::record_event(context, stream, event, flags == 1)? {
        return Ok(());
    }
    Ok(submit(driver, context, stream, Work::RecordEvent(event))?)
}

/// `cuEventQuery`. Fails if a capture forbids queries of events.
pub unsafe fn query(event: CUevent) -> Answer {
    let event = raw::event(event);
    rules::may_wait_for(event)?;
    machine()?.event_context(event)?;
    rules::safe()?;
    if !queue::is_done(Awaited::Event(event)) {
        return Err(CudaError::NotReady.into());
    }
    Ok(machine()?.query_event(event)?)
}

/// `cuEventSynchronize`. Fails if a capture forbids waiting for events.
pub unsafe fn synchronize(event: CUevent) -> Answer {
    let event = raw::event(event);
    rules::may_wait_for(event)?;
    machine()?.event_context(event)?;
    rules::safe()?;
    queue::wait(Awaited::Event(event));
    Ok(machine()?.synchronize_event(event)?)
}

/// `cuEventElapsedTime`.
pub unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Answer {
    // SAFETY: `milliseconds` is null or writable, as `cuEventElapsedTime` requires of its caller.
    let milliseconds = unsafe { Out::new(milliseconds) }?;
    rules::may_wait_for(raw::event(start))?;
    rules::may_wait_for(raw::event(end))?;
    machine()?.check_elapsed(raw::event(start), raw::event(end))?;
    for event in [start, end] {
        if queue::is_pending(Awaited::Event(raw::event(event))) {
            return Err(CudaError::NotReady.into());
        }
    }
    milliseconds.set(machine()?.elapsed_time(raw::event(start), raw::event(end))?);
    Ok(())
}
