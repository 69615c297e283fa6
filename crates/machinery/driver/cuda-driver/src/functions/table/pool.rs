//! Rows of the driver API's function table: memory pools.

use std::ffi::{c_int, c_void};

use cust_raw::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream,
};

use super::*;
use crate::simulator::{memory, pool};
use crate::types;

functions! {
    11020 cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) [pool::default];
    11020 cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice) [pool::get];
    11020 cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) [pool::set];
    11020 cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) [pool::create];
    11020 cuMemPoolDestroy(pool: CUmemoryPool) [pool::destroy];
    11020 cuMemPoolTrimTo(pool: CUmemoryPool, min_bytes_to_keep: usize) [pool::trim];
    11020 cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) [pool::set_attribute];
    11020 cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) [pool::attribute];
    11020 cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) [pool::set_access];
    11020 cuMemPoolGetAccess(flags: *mut c_int, pool: CUmemoryPool, location: *mut CUmemLocation) [pool::access];
    11020 cuMemAllocFromPoolAsync(
        address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream,
    ) [memory::allocate_from_pool] / 11020 cuMemAllocFromPoolAsync_ptsz;

    13000 cuMemGetDefaultMemPool(
        pool: *mut CUmemoryPool, location: *const types::CUmemLocation, kind: c_int,
    ) [pool::default_at];
    13000 cuMemGetMemPool(
        pool: *mut CUmemoryPool, location: *const types::CUmemLocation, kind: c_int,
    ) [pool::get_at];
    13000 cuMemSetMemPool(
        location: *const types::CUmemLocation, kind: c_int, pool: CUmemoryPool,
    ) [pool::set_at];

    unsupported {
        11020 cuMemPoolExportPointer, 11020 cuMemPoolExportToShareableHandle,
        11020 cuMemPoolImportFromShareableHandle, 11020 cuMemPoolImportPointer,
    }
}
