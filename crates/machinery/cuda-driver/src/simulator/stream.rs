//! Streams, and functions of the program's that run in them.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUhostFn, CUresult, CUstream, CUstreamCallback};

use super::raw::{self, Out, Stream, handle};
use super::{callback, current, in_stream};
use crate::status::Answer;

/// `cuStreamCreate`.
pub unsafe fn create(stream: *mut CUstream, flags: c_uint) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { create_with_priority(stream, flags, 0) }
}

/// `cuStreamCreateWithPriority`.
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

/// `cuStreamDestroy`.
pub unsafe fn destroy(stream: CUstream) -> Answer {
    if raw::stream(stream) == Stream::PerThread {
        return Err(CudaError::InvalidHandle.into());
    }
    let (mut driver, context, stream) = in_stream(stream)?;
    Ok(driver.destroy_stream(context, stream)?)
}

/// `cuStreamGetFlags`.
pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let flags = unsafe { Out::new(flags) }?;
    let (driver, context, stream) = in_stream(stream)?;
    flags.set(driver.stream_flags(context, stream)?);
    Ok(())
}

/// `cuStreamGetPriority`.
pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let priority = unsafe { Out::new(priority) }?;
    let (driver, context, stream) = in_stream(stream)?;
    priority.set(driver.stream_priority(context, stream)?);
    Ok(())
}

/// `cuStreamQuery`.
pub unsafe fn query(stream: CUstream) -> Answer {
    let (mut driver, context, stream) = in_stream(stream)?;
    Ok(driver.query_stream(context, stream)?)
}

/// `cuStreamSynchronize`.
pub unsafe fn synchronize(stream: CUstream) -> Answer {
    let (mut driver, context, stream) = in_stream(stream)?;
    Ok(driver.synchronize_stream(context, stream)?)
}

/// `cuStreamWaitEvent`.
pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    let (mut driver, context, stream) = in_stream(stream)?;
    // CU_EVENT_WAIT_DEFAULT or CU_EVENT_WAIT_EXTERNAL, which means something to graphs alone.
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(driver.wait_event(context, stream, raw::event(event))?)
}

/// The arguments of a callback, on their way to the thread that the callback runs on.
struct CallbackArguments<T>(T);

// SAFETY: that thread alone uses them, while the thread that made them waits.
unsafe impl<T> Send for CallbackArguments<T> {}

impl<T> CallbackArguments<T> {
    fn take(self) -> T {
        self.0
    }
}

/// `cuLaunchHostFunc`: calls the function now, for all that is before it in the stream has been done.
/// It takes no modelled time.
pub unsafe fn host_function(stream: CUstream, function: CUhostFn, data: *mut c_void) -> Answer {
    let function = function.ok_or(CudaError::InvalidValue)?;
    // SAFETY: any handle may be asked about.
    unsafe { query(stream) }?;
    let data = CallbackArguments(data);
    // SAFETY: the caller promises that the function may be called once with `data`, on a thread of
    // the driver's. The machine is not locked: others may go on meanwhile.
    Ok(callback::run(move || unsafe { function(data.take()) })?)
}

/// `cuStreamAddCallback`: the older form of [`host_function`].
pub unsafe fn callback(
    stream: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    let function = function.ok_or(CudaError::InvalidValue)?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: as in `host_function`.
    unsafe { query(stream) }?;
    let arguments = CallbackArguments((stream, data));
    Ok(callback::run(move || {
        let (stream, data) = arguments.take();
        // SAFETY: as in `host_function`.
        unsafe { function(stream, CUresult::CUDA_SUCCESS, data) }
    })?)
}
