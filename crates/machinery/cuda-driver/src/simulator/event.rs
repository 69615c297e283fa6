//! Events and the time between them.

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
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    unsafe { record_with_flags(event, stream, 0) }
}

/// `cuEventRecordWithFlags`: the one flag says that a capture records the event with each launch of its
/// graph.
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

/// `cuEventQuery`. A capture may forbid to ask about any event.
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

/// `cuEventSynchronize`. A capture may forbid to wait for any event.
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
    // SAFETY: the caller's promise.
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
