//! Memory that is allocated and freed in the order of a stream's work.

use std::ffi::c_void;

use cuda_driver::functions as cu;
use cust_raw::CUstream;

use crate::arguments::Out;
use crate::memory::{address, pointer};
use crate::start::context;
use crate::status::{Answer, Error, driver};
use crate::stream::named;

/// `cudaMallocAsync`.
pub unsafe fn allocate(to: *mut *mut c_void, bytes: usize, stream: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = 0;
    if bytes > 0 {
        // SAFETY: the driver writes an address.
        driver(unsafe { cu::cuMemAllocAsync(&mut found, bytes, named(stream)) })?;
    }
    to.set(pointer(found));
    Ok(())
}

/// `cudaFreeAsync`.
pub unsafe fn free(at: *mut c_void, stream: CUstream) -> Answer {
    context()?;
    if at.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: any address may be named.
    driver(unsafe { cu::cuMemFreeAsync(address(at), named(stream)) })
}
