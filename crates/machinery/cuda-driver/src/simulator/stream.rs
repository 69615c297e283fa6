//! Streams and the host's own work in them.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUhostFn, CUresult, CUstream, CUstreamCallback};

use super::current;
use super::raw::{self, Out, handle};
use crate::status::Answer;

pub unsafe fn create(stream: *mut CUstream, flags: c_uint) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { create_with_priority(stream, flags, 0) }
}

pub unsafe fn create_with_priority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Answer {
    // SAFETY: the caller's promise.
    let stream = unsafe { Out::new(stream) }?;
    let (mut driver, context) = current()?;
    stream.set(handle(driver.create_stream(context, flags, priority)?.0));
    Ok(())
}

pub unsafe fn destroy(stream: CUstream) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.destroy_stream(context, raw::stream(stream)?)?)
}

pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context) = current()?;
    flags.set(driver.stream_flags(context, raw::stream(stream)?)?);
    Ok(())
}

pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let priority = unsafe { Out::new(priority) }?;
    let (driver, context) = current()?;
    priority.set(driver.stream_priority(context, raw::stream(stream)?)?);
    Ok(())
}

pub unsafe fn query(stream: CUstream) -> Answer {
    let (driver, context) = current()?;
    Ok(driver.query_stream(context, raw::stream(stream)?)?)
}

pub unsafe fn synchronize(stream: CUstream) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.synchronize_stream(context, raw::stream(stream)?)?)
}

pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    let (mut driver, context) = current()?;
    // CU_EVENT_WAIT_DEFAULT or CU_EVENT_WAIT_EXTERNAL, which means something to graphs alone.
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(driver.wait(context, raw::stream(stream)?, raw::event(event))?)
}

/// Calls the host function now: all that is before it in the stream has been done. It takes no
/// modelled time.
pub unsafe fn host_function(stream: CUstream, function: CUhostFn, data: *mut c_void) -> Answer {
    let function = function.ok_or(CudaError::InvalidValue)?;
    // SAFETY: any handle may be asked about.
    unsafe { query(stream) }?;
    // SAFETY: the caller promises that the function may be called once with `data`. The machine
    // is not locked, so that nothing waits for ever should it call back.
    unsafe { function(data) };
    Ok(())
}

/// The older form of [`host_function`].
pub unsafe fn callback(
    stream: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    let callback = callback.ok_or(CudaError::InvalidValue)?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: as in `host_function`.
    unsafe { query(stream) }?;
    // SAFETY: as in `host_function`.
    unsafe { callback(stream, CUresult::CUDA_SUCCESS, data) };
    Ok(())
}
