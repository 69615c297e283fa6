//! Events and the time between them.

use std::ffi::c_uint;

use cuda_driver::functions as cu;
use cust_raw::{CUevent, CUstream};

use crate::context::context;
use crate::status::{Result, check};
use crate::stream::driver_stream;

/// `cudaEventCreate`.
pub unsafe fn create(event: *mut CUevent) -> Result {
    // SAFETY: `cudaEventCreate` has the same requirements for `event` as `create_with_flags`.
    unsafe { create_with_flags(event, 0) }
}

/// `cudaEventCreateWithFlags`.
pub unsafe fn create_with_flags(event: *mut CUevent, flags: c_uint) -> Result {
    context()?;
    // SAFETY: `cudaEventCreateWithFlags` has the same requirements for `event` as `cuEventCreate`.
    check(unsafe { cu::cuEventCreate(event, flags) })
}

/// `cudaEventDestroy`.
pub unsafe fn destroy(event: CUevent) -> Result {
    context()?;
    // SAFETY: the driver validates `event`.
    check(unsafe { cu::cuEventDestroy_v2(event) })
}

/// `cudaEventRecord`.
pub unsafe fn record(event: CUevent, stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates `event` and the stream.
    check(unsafe { cu::cuEventRecord(event, driver_stream(stream)) })
}

/// `cudaEventRecordWithFlags`.
pub unsafe fn record_with_flags(event: CUevent, stream: CUstream, flags: c_uint) -> Result {
    context()?;
    // SAFETY: the driver validates `event`, the stream and `flags`.
    check(unsafe { cu::cuEventRecordWithFlags(event, driver_stream(stream), flags) })
}

/// `cudaEventQuery`.
pub unsafe fn query(event: CUevent) -> Result {
    context()?;
    // SAFETY: the driver validates `event`.
    check(unsafe { cu::cuEventQuery(event) })
}

/// `cudaEventSynchronize`.
pub unsafe fn synchronize(event: CUevent) -> Result {
    context()?;
    // SAFETY: the driver validates `event`.
    check(unsafe { cu::cuEventSynchronize(event) })
}

/// `cudaEventElapsedTime`.
pub unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Result {
    context()?;
    // SAFETY: `cudaEventElapsedTime` has the same requirements for `milliseconds` as `cuEventElapsedTime`.
    check(unsafe { cu::cuEventElapsedTime(milliseconds, start, end) })
}
