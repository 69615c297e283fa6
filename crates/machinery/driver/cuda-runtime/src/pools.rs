//! The stream-ordered memory allocator: asynchronous allocation and memory pools.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::{CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream};

use crate::arguments::Out;
use crate::context::{context, device};
use crate::memory::{address, pointer};
use crate::status::{Error, Result, check};
use crate::stream::driver_stream;

/// `cudaMallocAsync`.
pub unsafe fn allocate(to: *mut *mut c_void, bytes: usize, stream: CUstream) -> Result {
    // SAFETY: `cudaMallocAsync` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut value = 0;
    if bytes > 0 {
        // SAFETY: `value` is writable.
        check(unsafe { cu::cuMemAllocAsync(&mut value, bytes, driver_stream(stream)) })?;
    }
    to.set(pointer(value));
    Ok(())
}

/// `cudaMallocFromPoolAsync`.
pub unsafe fn allocate_from(
    to: *mut *mut c_void,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Result {
    // SAFETY: `cudaMallocFromPoolAsync` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut value = 0;
    if bytes > 0 {
        // SAFETY: `value` is writable; the driver validates `pool`.
        check(unsafe {
            cu::cuMemAllocFromPoolAsync(&mut value, bytes, pool, driver_stream(stream))
        })?;
    }
    to.set(pointer(value));
    Ok(())
}

/// `cudaFreeAsync`.
pub unsafe fn free(ptr: *mut c_void, stream: CUstream) -> Result {
    context()?;
    if ptr.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the driver rejects an address that it did not allocate.
    check(unsafe { cu::cuMemFreeAsync(address(ptr), driver_stream(stream)) })
}

/// `cudaDeviceGetDefaultMemPool`.
pub unsafe fn default(to: *mut CUmemoryPool, ordinal: c_int) -> Result {
    // SAFETY: `cudaDeviceGetDefaultMemPool` has the same requirements for `to` as
    // `cuDeviceGetDefaultMemPool`.
    check(unsafe { cu::cuDeviceGetDefaultMemPool(to, device(ordinal)?.handle) })
}

/// `cudaDeviceGetMemPool`.
pub unsafe fn get(to: *mut CUmemoryPool, ordinal: c_int) -> Result {
    // SAFETY: `cudaDeviceGetMemPool` has the same requirements for `to` as `cuDeviceGetMemPool`.
    check(unsafe { cu::cuDeviceGetMemPool(to, device(ordinal)?.handle) })
}

/// `cudaDeviceSetMemPool`.
pub unsafe fn set(ordinal: c_int, pool: CUmemoryPool) -> Result {
    // SAFETY: the device's handle comes from the driver, which validates `pool`.
    check(unsafe { cu::cuDeviceSetMemPool(device(ordinal)?.handle, pool) })
}

/// `cudaMemPoolCreate`. Runtime and driver API share the layout of the properties.
pub unsafe fn create(to: *mut CUmemoryPool, properties: *const CUmemPoolProps) -> Result {
    context()?;
    // SAFETY: `cudaMemPoolCreate` has the same requirements for `to` and `properties` as `cuMemPoolCreate`.
    check(unsafe { cu::cuMemPoolCreate(to, properties) })
}

/// `cudaMemPoolDestroy`.
pub unsafe fn destroy(pool: CUmemoryPool) -> Result {
    context()?;
    // SAFETY: the driver validates `pool`.
    check(unsafe { cu::cuMemPoolDestroy(pool) })
}

/// `cudaMemPoolTrimTo`.
pub unsafe fn trim(pool: CUmemoryPool, keep: usize) -> Result {
    context()?;
    // SAFETY: the driver validates `pool`.
    check(unsafe { cu::cuMemPoolTrimTo(pool, keep) })
}

/// `cudaMemPoolSetAttribute`.
pub unsafe fn set_attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Result {
    context()?;
    // SAFETY: `cudaMemPoolSetAttribute` has the same requirements for `value` as `cuMemPoolSetAttribute`.
    check(unsafe { cu::cuMemPoolSetAttribute(pool, attribute, value) })
}

/// `cudaMemPoolGetAttribute`.
pub unsafe fn attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Result {
    context()?;
    // SAFETY: `cudaMemPoolGetAttribute` has the same requirements for `value` as `cuMemPoolGetAttribute`.
    check(unsafe { cu::cuMemPoolGetAttribute(pool, attribute, value) })
}

/// `cudaMemPoolSetAccess`.
pub unsafe fn set_access(pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize) -> Result {
    context()?;
    // SAFETY: `cudaMemPoolSetAccess` has the same requirements for `list` as `cuMemPoolSetAccess`.
    check(unsafe { cu::cuMemPoolSetAccess(pool, list, count) })
}

/// `cudaMemPoolGetAccess`.
pub unsafe fn access(flags: *mut c_int, pool: CUmemoryPool, ptr: *mut CUmemLocation) -> Result {
    context()?;
    // SAFETY: `cudaMemPoolGetAccess` has the same requirements for `flags` and `ptr` as `cuMemPoolGetAccess`.
    check(unsafe { cu::cuMemPoolGetAccess(flags, pool, ptr) })
}
