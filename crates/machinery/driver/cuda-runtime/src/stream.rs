//! Streams, the choice of the default stream, and host functions executed in streams.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::CUlaunchAttributeValue;
use cust_raw::{CUevent, CUhostFn, CUresult, CUstream};

use crate::arguments::Out;
use crate::context::context;
use crate::status::{Code, Error, Result, check};

/// The meaning of a null stream, chosen when the program is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DefaultStream {
    Legacy,
    PerThread,
}

thread_local! {
    /// The default stream of the API function that is running in this thread.
    static DEFAULT_STREAM: Cell<DefaultStream> = const { Cell::new(DefaultStream::Legacy) };
}

/// `cudaStreamPerThread`.
const PER_THREAD_HANDLE: usize = 2;

/// Runs `body` with `default` as the meaning of a null stream.
pub fn with_default_stream<T>(default: DefaultStream, body: impl FnOnce() -> T) -> T {
    if default == DefaultStream::Legacy {
        return body();
    }
    let previous = DEFAULT_STREAM.replace(default);
    let result = body();
    DEFAULT_STREAM.set(previous);
    result
}

/// Converts the program's stream handle to the driver's.
pub fn driver_stream(stream: CUstream) -> CUstream {
    if stream.is_null() && DEFAULT_STREAM.get() == DefaultStream::PerThread {
        return std::ptr::without_provenance_mut(PER_THREAD_HANDLE);
    }
    stream
}

/// Runs a synchronous operation in the default stream. With the legacy stream it calls `wait`, because the
/// driver has synchronous functions for it; otherwise it calls `start` and then waits for the stream.
pub fn run_synchronously(
    wait: impl FnOnce() -> Result,
    start: impl FnOnce(CUstream) -> Result,
) -> Result {
    if DEFAULT_STREAM.get() == DefaultStream::Legacy {
        return wait();
    }
    let stream = driver_stream(null_mut());
    start(stream)?;
    // SAFETY: `stream` is `CU_STREAM_PER_THREAD`, which always exists.
    check(unsafe { cu::cuStreamSynchronize(stream) })
}

/// `cudaStreamCreate`.
pub unsafe fn create(stream: *mut CUstream) -> Result {
    // SAFETY: `cudaStreamCreate` has the same requirements for `stream` as `create_with_flags`.
    unsafe { create_with_flags(stream, 0) }
}

/// `cudaStreamCreateWithFlags`.
pub unsafe fn create_with_flags(stream: *mut CUstream, flags: c_uint) -> Result {
    context()?;
    // SAFETY: `cudaStreamCreateWithFlags` has the same requirements for `stream` as `cuStreamCreate`.
    check(unsafe { cu::cuStreamCreate(stream, flags) })
}

/// `cudaStreamCreateWithPriority`.
pub unsafe fn create_with_priority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Result {
    context()?;
    // SAFETY: `cudaStreamCreateWithPriority` has the same requirements for `stream` as
    // `cuStreamCreateWithPriority`.
    check(unsafe { cu::cuStreamCreateWithPriority(stream, flags, priority) })
}

/// `cudaStreamDestroy`.
pub unsafe fn destroy(stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates `stream`.
    check(unsafe { cu::cuStreamDestroy_v2(stream) })
}

/// `cudaStreamSynchronize`.
pub unsafe fn synchronize(stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates the stream.
    check(unsafe { cu::cuStreamSynchronize(driver_stream(stream)) })
}

/// `cudaStreamQuery`.
pub unsafe fn query(stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates the stream.
    check(unsafe { cu::cuStreamQuery(driver_stream(stream)) })
}

/// `cudaStreamWaitEvent`.
pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Result {
    context()?;
    // SAFETY: the driver validates the stream and `event`.
    check(unsafe { cu::cuStreamWaitEvent(driver_stream(stream), event, flags) })
}

/// `cudaStreamGetFlags`.
pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> Result {
    context()?;
    // SAFETY: `cudaStreamGetFlags` has the same requirements for `flags` as `cuStreamGetFlags`.
    check(unsafe { cu::cuStreamGetFlags(driver_stream(stream), flags) })
}

/// `cudaStreamGetPriority`.
pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> Result {
    context()?;
    // SAFETY: `cudaStreamGetPriority` has the same requirements for `priority` as `cuStreamGetPriority`.
    check(unsafe { cu::cuStreamGetPriority(driver_stream(stream), priority) })
}

/// `cudaStreamGetAttribute`. Runtime and driver API share the attributes' numbers and values.
pub unsafe fn attribute(
    stream: CUstream,
    attribute: c_int,
    value: *mut CUlaunchAttributeValue,
) -> Result {
    context()?;
    // SAFETY: `cudaStreamGetAttribute` has the same requirements for `value` as `cuStreamGetAttribute`.
    check(unsafe { cu::cuStreamGetAttribute(driver_stream(stream), attribute, value) })
}

/// `cudaStreamSetAttribute`.
pub unsafe fn set_attribute(
    stream: CUstream,
    attribute: c_int,
    value: *const CUlaunchAttributeValue,
) -> Result {
    context()?;
    // SAFETY: `cudaStreamSetAttribute` has the same requirements for `value` as `cuStreamSetAttribute`.
    check(unsafe { cu::cuStreamSetAttribute(driver_stream(stream), attribute, value) })
}

/// `cudaStreamCopyAttributes`.
pub unsafe fn copy_attributes(to: CUstream, from: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates both streams.
    check(unsafe { cu::cuStreamCopyAttributes(driver_stream(to), driver_stream(from)) })
}

/// `cudaStreamGetDevice`. Returns the current device, because a thread can query only the streams of the
/// current context.
pub unsafe fn device(stream: CUstream, device: *mut c_int) -> Result {
    // SAFETY: `cudaStreamGetDevice` requires `device` to be null or writable.
    let device = unsafe { Out::new(device) }?;
    let mut flags = 0;
    // SAFETY: `flags` is writable; the call only checks that the stream exists.
    unsafe { self::flags(stream, &mut flags) }?;
    device.set(crate::context::current_device()?);
    Ok(())
}

/// `cudaDeviceGetStreamPriorityRange`.
pub unsafe fn priority_range(least: *mut c_int, greatest: *mut c_int) -> Result {
    context()?;
    // SAFETY: `cudaDeviceGetStreamPriorityRange` has the same requirements for `least` and `greatest` as
    // `cuCtxGetStreamPriorityRange`.
    check(unsafe { cu::cuCtxGetStreamPriorityRange(least, greatest) })
}

/// `cudaStreamCallback_t`.
pub type Callback = Option<unsafe extern "C" fn(CUstream, Code, *mut c_void)>;

/// `cudaStreamAddCallback`.
pub unsafe fn add_callback(
    stream: CUstream,
    function: Callback,
    data: *mut c_void,
    flags: c_uint,
) -> Result {
    let function = function.ok_or(Error::INVALID_VALUE)?;
    context()?;
    let callback_data = Box::into_raw(Box::new(StreamCallback { function, data }));
    // SAFETY: `callback_data` stays valid for `run_callback`, which frees it; if the driver rejects the
    // callback, `run_callback` never runs, and the data is freed here.
    unsafe {
        let added = cu::cuStreamAddCallback(
            driver_stream(stream),
            Some(run_callback),
            callback_data.cast(),
            flags,
        );
        check(added).inspect_err(|_| drop(Box::from_raw(callback_data)))
    }
}

/// A callback of the program and its data, passed through the driver.
struct StreamCallback {
    function: unsafe extern "C" fn(CUstream, Code, *mut c_void),
    data: *mut c_void,
}

unsafe extern "C" fn run_callback(stream: CUstream, result: CUresult, callback_data: *mut c_void) {
    // SAFETY: `add_callback` created the box, and the driver calls this function once. The runtime's error has
    // the driver's number.
    unsafe {
        let callback_data = Box::from_raw(callback_data.cast::<StreamCallback>());
        (callback_data.function)(stream, result as Code, callback_data.data);
    }
}

/// `cudaLaunchHostFunc`.
pub unsafe fn host_function(stream: CUstream, function: CUhostFn, data: *mut c_void) -> Result {
    context()?;
    // SAFETY: `cudaLaunchHostFunc` has the same requirements for `data` as `cuLaunchHostFunc`.
    check(unsafe { cu::cuLaunchHostFunc(driver_stream(stream), function, data) })
}
