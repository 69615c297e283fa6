//! Lines of the runtime API's function table: streams and events.

use std::ffi::{c_int, c_uint, c_void};

use cuda_driver::types::CUlaunchAttributeValue;
use cust_raw::{CUevent, CUhostFn, CUstream};

use super::entry::Entry;
use crate::event;
use crate::last_error::call;
use crate::status::Code;
use crate::stream::{self, Callback, DefaultStream};

functions! {
    cudaStreamCreate(stream: *mut CUstream) => stream::create;
    cudaStreamCreateWithFlags(
        stream: *mut CUstream, flags: c_uint,
    ) => stream::create_with_flags;
    cudaStreamCreateWithPriority(
        stream: *mut CUstream, flags: c_uint, priority: c_int,
    ) => stream::create_with_priority;
    cudaStreamDestroy(stream: CUstream) => stream::destroy;
    cudaStreamSynchronize(stream: CUstream) | cudaStreamSynchronize_ptsz => stream::synchronize;
    cudaStreamQuery(stream: CUstream) | cudaStreamQuery_ptsz => stream::query;
    cudaStreamWaitEvent(
        stream: CUstream, event: CUevent, flags: c_uint,
    ) | cudaStreamWaitEvent_ptsz => stream::wait_event;
    cudaStreamGetFlags(
        stream: CUstream, flags: *mut c_uint,
    ) | cudaStreamGetFlags_ptsz => stream::flags;
    cudaStreamGetPriority(
        stream: CUstream, priority: *mut c_int,
    ) | cudaStreamGetPriority_ptsz => stream::priority;
    cudaStreamGetDevice(
        stream: CUstream, device: *mut c_int,
    ) | cudaStreamGetDevice_ptsz => stream::device;
    cudaStreamGetAttribute(
        stream: CUstream, attribute: c_int, value: *mut CUlaunchAttributeValue,
    ) | cudaStreamGetAttribute_ptsz => stream::attribute;
    cudaStreamSetAttribute(
        stream: CUstream, attribute: c_int, value: *const CUlaunchAttributeValue,
    ) | cudaStreamSetAttribute_ptsz => stream::set_attribute;
    cudaStreamCopyAttributes(
        to: CUstream, from: CUstream,
    ) | cudaStreamCopyAttributes_ptsz => stream::copy_attributes;
    cudaStreamAddCallback(
        stream: CUstream, callback: Callback, data: *mut c_void, flags: c_uint,
    ) | cudaStreamAddCallback_ptsz => stream::add_callback;
    cudaLaunchHostFunc(
        stream: CUstream, function: CUhostFn, data: *mut c_void,
    ) | cudaLaunchHostFunc_ptsz => stream::host_function;
    cudaEventCreate(event: *mut CUevent) => event::create;
    cudaEventCreateWithFlags(event: *mut CUevent, flags: c_uint) => event::create_with_flags;
    cudaEventDestroy(event: CUevent) => event::destroy;
    cudaEventRecord(event: CUevent, stream: CUstream) | cudaEventRecord_ptsz => event::record;
    cudaEventRecordWithFlags(
        event: CUevent, stream: CUstream, flags: c_uint,
    ) | cudaEventRecordWithFlags_ptsz => event::record_with_flags;
    cudaEventQuery(event: CUevent) => event::query;
    cudaEventSynchronize(event: CUevent) => event::synchronize;
    cudaEventElapsedTime(
        milliseconds: *mut f32, start: CUevent, end: CUevent,
    ) => event::elapsed_time;
}
