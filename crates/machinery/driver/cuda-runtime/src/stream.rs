//! Streams, the host functions executed in them, and events.

use std::ffi::{c_int, c_uint, c_void};

use cuda_driver::functions as cu;
use cuda_driver::types::{CUevent, CUhostFn, CUlaunchAttributeValue, CUstream, ShareableHandle};

use crate::context::{context, current_device};
use crate::errors::{Code, Error, Result, check};
use crate::functions::driver_stream;

functions! {
    cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int)
        => cuCtxGetStreamPriorityRange(..);
    cudaStreamCreate(stream: *mut CUstream) => cuStreamCreate(stream, 0);
    cudaStreamCreateWithFlags(stream: *mut CUstream, flags: c_uint) => cuStreamCreate(..);
    cudaStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int)
        => cuStreamCreateWithPriority(..);
    cudaStreamDestroy(stream: CUstream) => cuStreamDestroy_v2(..);
    cudaStreamSynchronize(stream: CUstream) | cudaStreamSynchronize_ptsz
        => cuStreamSynchronize(driver_stream(stream));
    cudaStreamQuery(stream: CUstream) | cudaStreamQuery_ptsz
        => cuStreamQuery(driver_stream(stream));
    cudaStreamWaitEvent(
        stream: CUstream, event: CUevent, flags: c_uint,
    ) | cudaStreamWaitEvent_ptsz => cuStreamWaitEvent(driver_stream(stream), event, flags);
    cudaStreamGetFlags(stream: CUstream, flags: *mut c_uint) | cudaStreamGetFlags_ptsz
        => cuStreamGetFlags(driver_stream(stream), flags);
    cudaStreamGetPriority(
        stream: CUstream, priority: *mut c_int,
    ) | cudaStreamGetPriority_ptsz => cuStreamGetPriority(driver_stream(stream), priority);
    cudaStreamGetDevice(stream: CUstream, device: *mut c_int) | cudaStreamGetDevice_ptsz
        -> device = stream_device(stream);
    cudaStreamGetAttribute(
        stream: CUstream, attribute: c_int, value: *mut CUlaunchAttributeValue,
    ) | cudaStreamGetAttribute_ptsz
        => cuStreamGetAttribute(driver_stream(stream), attribute, value);
    cudaStreamSetAttribute(
        stream: CUstream, attribute: c_int, value: *const CUlaunchAttributeValue,
    ) | cudaStreamSetAttribute_ptsz
        => cuStreamSetAttribute(driver_stream(stream), attribute, value);
    cudaStreamCopyAttributes(to: CUstream, from: CUstream) | cudaStreamCopyAttributes_ptsz
        => cuStreamCopyAttributes(driver_stream(to), driver_stream(from));
    cudaStreamAddCallback(
        stream: CUstream, callback: Callback, data: *mut c_void, flags: c_uint,
    ) | cudaStreamAddCallback_ptsz => add_callback;
    cudaLaunchHostFunc(
        stream: CUstream, function: CUhostFn, data: *mut c_void,
    ) | cudaLaunchHostFunc_ptsz => cuLaunchHostFunc(driver_stream(stream), function, data);

    cudaEventCreate(event: *mut CUevent) => cuEventCreate(event, 0);
    cudaEventCreateWithFlags(event: *mut CUevent, flags: c_uint) => cuEventCreate(..);
    cudaEventDestroy(event: CUevent) => cuEventDestroy_v2(..);
    cudaEventRecord(event: CUevent, stream: CUstream) | cudaEventRecord_ptsz
        => cuEventRecord(event, driver_stream(stream));
    cudaEventRecordWithFlags(
        event: CUevent, stream: CUstream, flags: c_uint,
    ) | cudaEventRecordWithFlags_ptsz
        => cuEventRecordWithFlags(event, driver_stream(stream), flags);
    cudaEventQuery(event: CUevent) => cuEventQuery(..);
    cudaEventSynchronize(event: CUevent) => cuEventSynchronize(..);
    cudaEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent)
        => cuEventElapsedTime(..);

    cudaIpcGetEventHandle(handle: *mut ShareableHandle, event: CUevent) => cuIpcGetEventHandle(..);
    cudaIpcOpenEventHandle(event: *mut CUevent, handle: ShareableHandle) => cuIpcOpenEventHandle(..);
}

/// `cudaStreamGetDevice`. Returns the current device, because a thread can query only the streams of the
/// current context.
fn stream_device(stream: CUstream) -> Result<c_int> {
    context()?;
    let mut flags = 0;
    // SAFETY: `flags` is writable; the call only checks that the stream exists.
    check(unsafe { cu::cuStreamGetFlags(driver_stream(stream), &mut flags) })?;
    current_device()
}

/// `cudaStreamCallback_t`.
pub type Callback = Option<unsafe extern "C" fn(CUstream, Code, *mut c_void)>;

/// `cudaStreamAddCallback`.
unsafe fn add_callback(
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

unsafe extern "C" fn run_callback(stream: CUstream, result: Code, callback_data: *mut c_void) {
    // SAFETY: `add_callback` created the box, and the driver calls this function once. The runtime's error has
    // the driver's number.
    unsafe {
        let callback_data = Box::from_raw(callback_data.cast::<StreamCallback>());
        (callback_data.function)(stream, result, callback_data.data);
    }
}
