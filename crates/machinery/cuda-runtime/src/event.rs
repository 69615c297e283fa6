//! Events and the time between them.

use std::ffi::c_uint;

use cuda_driver::functions as cu;
use cust_raw::{CUevent, CUstream};

use crate::start::context;
use crate::status::{Answer, driver};
use crate::stream::named;

/// `cudaEventCreate`.
pub unsafe fn create(event: *mut CUevent) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { create_with_flags(event, 0) }
}

/// `cudaEventCreateWithFlags`.
pub unsafe fn create_with_flags(event: *mut CUevent, flags: c_uint) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuEventCreate(event, flags) })
}

/// `cudaEventDestroy`.
pub unsafe fn destroy(event: CUevent) -> Answer {
    context()?;
    // SAFETY: any handle may be destroyed.
    driver(unsafe { cu::cuEventDestroy_v2(event) })
}

/// `cudaEventRecord`.
pub unsafe fn record(event: CUevent, stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuEventRecord(event, named(stream)) })
}

/// `cudaEventRecordWithFlags`.
pub unsafe fn record_with_flags(event: CUevent, stream: CUstream, flags: c_uint) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuEventRecordWithFlags(event, named(stream), flags) })
}

/// `cudaEventQuery`.
pub unsafe fn query(event: CUevent) -> Answer {
    context()?;
    // SAFETY: any handle may be asked about.
    driver(unsafe { cu::cuEventQuery(event) })
}

/// `cudaEventSynchronize`.
pub unsafe fn synchronize(event: CUevent) -> Answer {
    context()?;
    // SAFETY: any handle may be asked about.
    driver(unsafe { cu::cuEventSynchronize(event) })
}

/// `cudaEventElapsedTime`.
pub unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuEventElapsedTime(milliseconds, start, end) })
}
