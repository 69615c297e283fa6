//! Events and the time between them.

use std::ffi::c_uint;

use cust_raw::{CUevent, CUstream};

use super::raw::{self, Out, handle};
use super::{current, driver, in_stream};
use crate::status::Answer;

/// `cuEventCreate`.
pub unsafe fn create(event: *mut CUevent, flags: c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let event = unsafe { Out::new(event) }?;
    let (mut driver, context) = current()?;
    event.set(handle(driver.create_event(context, flags)?.0));
    Ok(())
}

/// `cuEventDestroy`.
pub unsafe fn destroy(event: CUevent) -> Answer {
    Ok(driver()?.destroy_event(raw::event(event))?)
}

/// `cuEventRecord`.
pub unsafe fn record(event: CUevent, stream: CUstream) -> Answer {
    let (mut driver, context, stream) = in_stream(stream)?;
    Ok(driver.record_event(context, raw::event(event), stream)?)
}

/// `cuEventQuery`.
pub unsafe fn query(event: CUevent) -> Answer {
    Ok(driver()?.query_event(raw::event(event))?)
}

/// `cuEventSynchronize`.
pub unsafe fn synchronize(event: CUevent) -> Answer {
    Ok(driver()?.synchronize_event(raw::event(event))?)
}

/// `cuEventElapsedTime`.
pub unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Answer {
    // SAFETY: the caller's promise.
    let milliseconds = unsafe { Out::new(milliseconds) }?;
    milliseconds.set(driver()?.elapsed_time(raw::event(start), raw::event(end))?);
    Ok(())
}
