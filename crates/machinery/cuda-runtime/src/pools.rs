//! Memory that is allocated and freed in the order of a stream's work, and the pools that it comes from.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::{CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream};

use crate::arguments::Out;
use crate::memory::{address, pointer};
use crate::start::{context, device};
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

/// `cudaMallocFromPoolAsync`.
pub unsafe fn allocate_from(
    to: *mut *mut c_void,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = 0;
    if bytes > 0 {
        // SAFETY: the driver writes an address.
        driver(unsafe { cu::cuMemAllocFromPoolAsync(&mut found, bytes, pool, named(stream)) })?;
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

/// `cudaDeviceGetDefaultMemPool`.
pub unsafe fn default(to: *mut CUmemoryPool, ordinal: c_int) -> Answer {
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceGetDefaultMemPool(to, device(ordinal)?.handle) })
}

/// `cudaDeviceGetMemPool`.
pub unsafe fn get(to: *mut CUmemoryPool, ordinal: c_int) -> Answer {
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceGetMemPool(to, device(ordinal)?.handle) })
}

/// `cudaDeviceSetMemPool`.
pub unsafe fn set(ordinal: c_int, pool: CUmemoryPool) -> Answer {
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuDeviceSetMemPool(device(ordinal)?.handle, pool) })
}

/// `cudaMemPoolCreate`: the structures of both APIs have the same fields.
pub unsafe fn create(to: *mut CUmemoryPool, how: *const CUmemPoolProps) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPoolCreate(to, how) })
}

/// `cudaMemPoolDestroy`.
pub unsafe fn destroy(pool: CUmemoryPool) -> Answer {
    context()?;
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuMemPoolDestroy(pool) })
}

/// `cudaMemPoolTrimTo`.
pub unsafe fn trim(pool: CUmemoryPool, keep: usize) -> Answer {
    context()?;
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuMemPoolTrimTo(pool, keep) })
}

/// `cudaMemPoolSetAttribute`.
pub unsafe fn set_attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPoolSetAttribute(pool, attribute, value) })
}

/// `cudaMemPoolGetAttribute`.
pub unsafe fn attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPoolGetAttribute(pool, attribute, value) })
}

/// `cudaMemPoolSetAccess`.
pub unsafe fn set_access(pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPoolSetAccess(pool, list, count) })
}

/// `cudaMemPoolGetAccess`.
pub unsafe fn access(flags: *mut c_int, pool: CUmemoryPool, at: *mut CUmemLocation) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPoolGetAccess(flags, pool, at) })
}
