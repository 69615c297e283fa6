//! Rows of the driver API's function table: streams and events.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::*;
use crate::api::{event, green_context, stream};
use crate::types::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUhostFn, CUlaunchAttributeValue, CUstream,
    CUstreamCallback, MemoryOperation,
};

functions! {
    2000 cuStreamCreate(ph_stream: *mut CUstream, flags: c_uint) [stream::create];
    5050 cuStreamCreateWithPriority(
        ph_stream: *mut CUstream, flags: c_uint, priority: c_int,
    ) [stream::create_with_priority];
    4000 cuStreamDestroy_v2(stream: CUstream) [stream::destroy];
    5050 cuStreamGetFlags(stream: CUstream, flags: *mut c_uint) [stream::flags] / 7000 cuStreamGetFlags_ptsz;
    5050 cuStreamGetPriority(
        stream: CUstream, priority: *mut c_int,
    ) [stream::priority] / 7000 cuStreamGetPriority_ptsz;
    2000 cuStreamQuery(stream: CUstream) [stream::query] / 7000 cuStreamQuery_ptsz;
    2000 cuStreamSynchronize(stream: CUstream) [stream::synchronize] / 7000 cuStreamSynchronize_ptsz;
    3020 cuStreamWaitEvent(
        stream: CUstream, event: CUevent, flags: c_uint,
    ) [stream::wait_event] / 7000 cuStreamWaitEvent_ptsz;
    10000 cuLaunchHostFunc(
        stream: CUstream, fn_: CUhostFn, user_data: *mut c_void,
    ) [stream::launch_host_func] / 10000 cuLaunchHostFunc_ptsz;
    5000 cuStreamAddCallback(
        stream: CUstream, callback: CUstreamCallback, user_data: *mut c_void, flags: c_uint,
    ) [stream::callback] / 7000 cuStreamAddCallback_ptsz;
    2000 cuEventCreate(h_event: *mut CUevent, flags: c_uint) [event::create];
    4000 cuEventDestroy_v2(event: CUevent) [event::destroy];
    2000 cuEventRecord(event: CUevent, stream: CUstream) [event::record] / 7000 cuEventRecord_ptsz;
    2000 cuEventQuery(event: CUevent) [event::query];
    2000 cuEventSynchronize(event: CUevent) [event::synchronize];
    2000 cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) [event::elapsed_time];
    9020 cuStreamGetCtx(
        stream: CUstream, ctx: *mut CUcontext,
    ) [stream::context] / 9020 cuStreamGetCtx_ptsz;
    12050 cuStreamGetCtx_v2(
        stream: CUstream, ctx: *mut CUcontext, green: *mut *mut c_void,
    ) [stream::contexts] / 12050 cuStreamGetCtx_v2_ptsz;
    12080 cuStreamGetDevice(
        stream: CUstream, device: *mut CUdevice,
    ) [stream::device] / 12080 cuStreamGetDevice_ptsz;
    12000 cuStreamGetId(
        stream: CUstream, id: *mut c_ulonglong,
    ) [stream::id] / 12000 cuStreamGetId_ptsz;
    11000 cuStreamGetAttribute(
        stream: CUstream, attribute: c_int, value: *mut CUlaunchAttributeValue,
    ) [stream::attribute] / 11000 cuStreamGetAttribute_ptsz;
    11000 cuStreamSetAttribute(
        stream: CUstream, attribute: c_int, value: *const CUlaunchAttributeValue,
    ) [stream::set_attribute] / 11000 cuStreamSetAttribute_ptsz;
    11000 cuStreamCopyAttributes(
        to: CUstream, from: CUstream,
    ) [stream::copy_attributes] / 11000 cuStreamCopyAttributes_ptsz;
    6000 cuStreamAttachMemAsync(
        stream: CUstream, address: CUdeviceptr, bytes: usize, flags: c_uint,
    ) [stream::attach] / 7000 cuStreamAttachMemAsync_ptsz;
    11010 cuEventRecordWithFlags(
        event: CUevent, stream: CUstream, flags: c_uint,
    ) [event::record_with_flags] / 11010 cuEventRecordWithFlags_ptsz;
    12080 cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) [event::elapsed_time];
    2000 cuStreamDestroy(stream: CUstream) [stream::destroy];
    2000 cuEventDestroy(event: CUevent) [event::destroy];

    12040 cuStreamGetGreenCtx(stream: CUstream, green: *mut *mut c_void) [green_context::of_stream];

    // Memory operations
    8000 cuStreamWaitValue32(
        stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint,
    ) [stream::wait_32] / 8000 cuStreamWaitValue32_ptsz;
    9000 cuStreamWaitValue64(
        stream: CUstream, address: CUdeviceptr, value: c_ulonglong, flags: c_uint,
    ) [stream::wait_64] / 9000 cuStreamWaitValue64_ptsz;
    8000 cuStreamWriteValue32(
        stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint,
    ) [stream::write_32] / 8000 cuStreamWriteValue32_ptsz;
    9000 cuStreamWriteValue64(
        stream: CUstream, address: CUdeviceptr, value: c_ulonglong, flags: c_uint,
    ) [stream::write_64] / 9000 cuStreamWriteValue64_ptsz;
    8000 cuStreamBatchMemOp(
        stream: CUstream, count: c_uint, operations: *mut MemoryOperation, flags: c_uint,
    ) [stream::batch] / 8000 cuStreamBatchMemOp_ptsz;
    11070 cuStreamWaitValue32_v2(
        stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint,
    ) [stream::wait_32] / 11070 cuStreamWaitValue32_v2_ptsz;
    11070 cuStreamWaitValue64_v2(
        stream: CUstream, address: CUdeviceptr, value: c_ulonglong, flags: c_uint,
    ) [stream::wait_64] / 11070 cuStreamWaitValue64_v2_ptsz;
    11070 cuStreamWriteValue32_v2(
        stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint,
    ) [stream::write_32] / 11070 cuStreamWriteValue32_v2_ptsz;
    11070 cuStreamWriteValue64_v2(
        stream: CUstream, address: CUdeviceptr, value: c_ulonglong, flags: c_uint,
    ) [stream::write_64] / 11070 cuStreamWriteValue64_v2_ptsz;
    11070 cuStreamBatchMemOp_v2(
        stream: CUstream, count: c_uint, operations: *mut MemoryOperation, flags: c_uint,
    ) [stream::batch] / 11070 cuStreamBatchMemOp_v2_ptsz;

    unsupported {
        9000 cuEventCreateFromEGLSync,
    }
}
