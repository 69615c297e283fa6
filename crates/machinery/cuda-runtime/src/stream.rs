//! Streams, which of them is the default one, and functions of the program's that run in them.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::CUlaunchAttributeValue;
use cust_raw::{CUevent, CUhostFn, CUresult, CUstream};

use crate::arguments::Out;
use crate::start::context;
use crate::status::{Answer, Code, Error, driver};

/// The stream that a null stream stands for: a program compiled for it has one for each thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DefaultStream {
    Legacy,
    PerThread,
}

thread_local! {
    /// What the function called now takes for the default stream.
    static DEFAULT: Cell<DefaultStream> = const { Cell::new(DefaultStream::Legacy) };
}

/// `cudaStreamPerThread`.
const PER_THREAD: usize = 2;

/// Runs `body`, for which a null stream is `default`.
pub fn with_default<T>(default: DefaultStream, body: impl FnOnce() -> T) -> T {
    if default == DefaultStream::Legacy {
        return body();
    }
    let before = DEFAULT.replace(default);
    let result = body();
    DEFAULT.set(before);
    result
}

/// The stream that the caller names, as the driver knows it.
pub fn named(stream: CUstream) -> CUstream {
    if stream.is_null() && DEFAULT.get() == DefaultStream::PerThread {
        return std::ptr::without_provenance_mut(PER_THREAD);
    }
    stream
}

/// Runs work that the caller waits for, in the default stream: `wait` where that is the legacy one, for
/// which the driver has functions that wait, or else `start`, and then waits for the stream.
pub fn waited(wait: impl FnOnce() -> Answer, start: impl FnOnce(CUstream) -> Answer) -> Answer {
    if DEFAULT.get() == DefaultStream::Legacy {
        return wait();
    }
    let stream = named(null_mut());
    start(stream)?;
    // SAFETY: any handle may be asked about.
    driver(unsafe { cu::cuStreamSynchronize(stream) })
}

/// `cudaStreamCreate`.
pub unsafe fn create(stream: *mut CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { create_with_flags(stream, 0) }
}

/// `cudaStreamCreateWithFlags`.
pub unsafe fn create_with_flags(stream: *mut CUstream, flags: c_uint) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamCreate(stream, flags) })
}

/// `cudaStreamCreateWithPriority`.
pub unsafe fn create_with_priority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamCreateWithPriority(stream, flags, priority) })
}

/// `cudaStreamDestroy`.
pub unsafe fn destroy(stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handle may be destroyed.
    driver(unsafe { cu::cuStreamDestroy_v2(stream) })
}

/// `cudaStreamSynchronize`.
pub unsafe fn synchronize(stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handle may be asked about.
    driver(unsafe { cu::cuStreamSynchronize(named(stream)) })
}

/// `cudaStreamQuery`.
pub unsafe fn query(stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handle may be asked about.
    driver(unsafe { cu::cuStreamQuery(named(stream)) })
}

/// `cudaStreamWaitEvent`.
pub unsafe fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuStreamWaitEvent(named(stream), event, flags) })
}

/// `cudaStreamGetFlags`.
pub unsafe fn flags(stream: CUstream, flags: *mut c_uint) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamGetFlags(named(stream), flags) })
}

/// `cudaStreamGetPriority`.
pub unsafe fn priority(stream: CUstream, priority: *mut c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamGetPriority(named(stream), priority) })
}

/// `cudaStreamGetAttribute`: the attributes of streams are the driver's, numbers and values alike.
pub unsafe fn attribute(
    stream: CUstream,
    attribute: c_int,
    value: *mut CUlaunchAttributeValue,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamGetAttribute(named(stream), attribute, value) })
}

/// `cudaStreamSetAttribute`.
pub unsafe fn set_attribute(
    stream: CUstream,
    attribute: c_int,
    value: *const CUlaunchAttributeValue,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuStreamSetAttribute(named(stream), attribute, value) })
}

/// `cudaStreamCopyAttributes`.
pub unsafe fn copy_attributes(to: CUstream, from: CUstream) -> Answer {
    context()?;
    // SAFETY: any stream may be named.
    driver(unsafe { cu::cuStreamCopyAttributes(named(to), named(from)) })
}

/// `cudaStreamGetDevice`: a stream's device, which here is the current one's, whose streams alone a
/// thread can ask about.
pub unsafe fn device(stream: CUstream, device: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let device = unsafe { Out::new(device) }?;
    let mut flags = 0;
    // SAFETY: asks whether there is such a stream.
    unsafe { self::flags(stream, &mut flags) }?;
    device.set(crate::start::current_device()?);
    Ok(())
}

/// `cudaDeviceGetStreamPriorityRange`.
pub unsafe fn priority_range(least: *mut c_int, greatest: *mut c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuCtxGetStreamPriorityRange(least, greatest) })
}

/// `cudaStreamCallback_t`.
pub type Callback = Option<unsafe extern "C" fn(CUstream, Code, *mut c_void)>;

/// `cudaStreamAddCallback`.
pub unsafe fn callback(
    stream: CUstream,
    function: Callback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    let function = function.ok_or(Error::INVALID_VALUE)?;
    context()?;
    let called = Box::into_raw(Box::new(Called { function, data }));
    // SAFETY: `call_back` is called once with this data, or, where the call fails, never.
    unsafe {
        let added = cu::cuStreamAddCallback(named(stream), Some(call_back), called.cast(), flags);
        driver(added).inspect_err(|_| drop(Box::from_raw(called)))
    }
}

/// A callback of the program's, on its way through the driver.
struct Called {
    function: unsafe extern "C" fn(CUstream, Code, *mut c_void),
    data: *mut c_void,
}

unsafe extern "C" fn call_back(stream: CUstream, result: CUresult, called: *mut c_void) {
    // SAFETY: made by `callback`, and given here once. The runtime's error has the driver's number.
    unsafe {
        let called = Box::from_raw(called.cast::<Called>());
        (called.function)(stream, result as Code, called.data);
    }
}

/// `cudaLaunchHostFunc`.
pub unsafe fn host_function(stream: CUstream, function: CUhostFn, data: *mut c_void) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuLaunchHostFunc(named(stream), function, data) })
}
