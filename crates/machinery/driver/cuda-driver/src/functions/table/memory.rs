//! Rows of the driver API's function table: memory allocation, pointer attributes, memory pools, virtual memory
//! management and interprocess memory.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::*;
use crate::api::{external, managed, memory, pointer, pool, sharing, virtual_memory};
use crate::types::{
    CUdevice, CUdeviceptr, CUevent, CUmemAccessDesc, CUmemAllocationProp, CUmemLocation,
    CUmemPoolProps, CUmemoryPool, CUstream, ShareableHandle,
};

functions! {
    // Allocation and pointer attributes
    3020 cuMemGetInfo_v2(free: *mut usize, total: *mut usize) [memory::info];
    3020 cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) [memory::allocate];
    3020 cuMemAllocPitch_v2(
        address: *mut CUdeviceptr, pitch: *mut usize, width_in_bytes: usize, height: usize,
        element_size_bytes: c_uint,
    ) [memory::allocate_pitched];
    6000 cuMemAllocManaged(address: *mut CUdeviceptr, bytes: usize, flags: c_uint) [memory::allocate_managed];
    11020 cuMemAllocAsync(
        address: *mut CUdeviceptr, bytes: usize, stream: CUstream,
    ) [memory::allocate_async] / 11020 cuMemAllocAsync_ptsz;
    3020 cuMemFree_v2(address: CUdeviceptr) [memory::free];
    11020 cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) [memory::free_async] / 11020 cuMemFreeAsync_ptsz;
    3020 cuMemAllocHost_v2(pp: *mut *mut c_void, bytes: usize) [memory::allocate_host];
    2020 cuMemHostAlloc(pp: *mut *mut c_void, bytes: usize, flags: c_uint) [memory::allocate_host_with_flags];
    2000 cuMemFreeHost(p: *mut c_void) [memory::free_host];
    3020 cuMemHostGetDevicePointer_v2(
        address: *mut CUdeviceptr, p: *mut c_void, flags: c_uint,
    ) [memory::host_device_pointer];
    6050 cuMemHostRegister_v2(p: *mut c_void, bytes: usize, flags: c_uint) [memory::register_host];
    4000 cuMemHostUnregister(p: *mut c_void) [memory::unregister_host];
    2030 cuMemHostGetFlags(flags: *mut c_uint, p: *mut c_void) [memory::host_flags];
    3020 cuMemGetAddressRange_v2(
        base: *mut CUdeviceptr, size: *mut usize, address: CUdeviceptr,
    ) [memory::address_range];
    4000 cuPointerGetAttribute(data: *mut c_void, attribute: c_int, ptr: CUdeviceptr) [pointer::attribute];
    8000 cuMemAdvise(dev_ptr: CUdeviceptr, count: usize, advice: c_int, device: CUdevice) [managed::advise];
    8000 cuMemPrefetchAsync(
        dev_ptr: CUdeviceptr, count: usize, dst_device: CUdevice, stream: CUstream,
    ) [managed::prefetch] / 8000 cuMemPrefetchAsync_ptsz;
    7000 cuPointerGetAttributes(
        count: c_uint, attributes: *mut c_int, data: *mut *mut c_void, ptr: CUdeviceptr,
    ) [pointer::attributes];
    6000 cuPointerSetAttribute(
        value: *const c_void, attribute: c_int, ptr: CUdeviceptr,
    ) [pointer::set_attribute];
    12020 cuMemAdvise_v2(
        dev_ptr: CUdeviceptr, count: usize, advice: c_int, location: CUmemLocation,
    ) [managed::advise_at];
    12020 cuMemPrefetchAsync_v2(
        dev_ptr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, stream: CUstream,
    ) [managed::prefetch_to] / 12020 cuMemPrefetchAsync_v2_ptsz;
    8000 cuMemRangeGetAttribute(
        data: *mut c_void, size: usize, attribute: c_int, dev_ptr: CUdeviceptr, count: usize,
    ) [managed::attribute];
    8000 cuMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_int, attribute_count: usize,
        dev_ptr: CUdeviceptr, count: usize,
    ) [managed::attributes];
    4000 cuMemHostRegister(p: *mut c_void, bytes: usize, flags: c_uint) [memory::register_host];

    // Pools
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
        pool: *mut CUmemoryPool, location: *const CUmemLocation, kind: c_int,
    ) [pool::default_at];
    13000 cuMemGetMemPool(
        pool: *mut CUmemoryPool, location: *const CUmemLocation, kind: c_int,
    ) [pool::get_at];
    13000 cuMemSetMemPool(
        location: *const CUmemLocation, kind: c_int, pool: CUmemoryPool,
    ) [pool::set_at];

    // Virtual memory
    10020 cuMemGetAllocationGranularity(
        granularity: *mut usize, properties: *const CUmemAllocationProp, which: c_int,
    ) [virtual_memory::granularity];
    10020 cuMemCreate(
        memory: *mut c_ulonglong, bytes: usize, properties: *const CUmemAllocationProp, flags:
        c_ulonglong,
    ) [virtual_memory::create];
    10020 cuMemRelease(memory: c_ulonglong) [virtual_memory::release];
    10020 cuMemAddressReserve(
        ptr: *mut CUdeviceptr, bytes: usize, alignment: usize, wished: CUdeviceptr, flags: c_ulonglong,
    ) [virtual_memory::reserve];
    10020 cuMemAddressFree(ptr: CUdeviceptr, bytes: usize) [virtual_memory::free];
    10020 cuMemMap(
        ptr: CUdeviceptr, bytes: usize, offset: usize, memory: c_ulonglong, flags: c_ulonglong,
    ) [virtual_memory::map];
    10020 cuMemUnmap(ptr: CUdeviceptr, bytes: usize) [virtual_memory::unmap];
    10020 cuMemSetAccess(
        ptr: CUdeviceptr, bytes: usize, list: *const CUmemAccessDesc, count: usize,
    ) [virtual_memory::set_access];
    10020 cuMemGetAccess(
        flags: *mut c_ulonglong, location: *const CUmemLocation, ptr: CUdeviceptr,
    ) [virtual_memory::access];
    11000 cuMemRetainAllocationHandle(memory: *mut c_ulonglong, address: *mut c_void) [virtual_memory::retain];
    10020 cuMemGetAllocationPropertiesFromHandle(
        properties: *mut CUmemAllocationProp, memory: c_ulonglong,
    ) [virtual_memory::properties];

    // Memory, events and pools shared between processes
    4010 cuIpcGetMemHandle(handle: *mut ShareableHandle, address: CUdeviceptr) [sharing::memory_handle];
    4010 cuIpcOpenMemHandle(
        address: *mut CUdeviceptr, handle: ShareableHandle, flags: c_uint,
    ) [sharing::open_memory];
    11000 cuIpcOpenMemHandle_v2(
        address: *mut CUdeviceptr, handle: ShareableHandle, flags: c_uint,
    ) [sharing::open_memory];
    4010 cuIpcCloseMemHandle(address: CUdeviceptr) [sharing::close_memory];
    4010 cuIpcGetEventHandle(handle: *mut ShareableHandle, event: CUevent) [sharing::event_handle];
    4010 cuIpcOpenEventHandle(event: *mut CUevent, handle: ShareableHandle) [sharing::open_event];
    10020 cuMemExportToShareableHandle(
        handle: *mut c_void, memory: c_ulonglong, kind: c_int, flags: c_ulonglong,
    ) [sharing::export_memory];
    10020 cuMemImportFromShareableHandle(
        memory: *mut c_ulonglong, handle: *mut c_void, kind: c_int,
    ) [sharing::import_memory];
    11020 cuMemPoolExportToShareableHandle(
        handle: *mut c_void, pool: CUmemoryPool, kind: c_int, flags: c_ulonglong,
    ) [sharing::export_pool];
    11020 cuMemPoolImportFromShareableHandle(
        pool: *mut CUmemoryPool, handle: *mut c_void, kind: c_int, flags: c_ulonglong,
    ) [sharing::import_pool];
    11020 cuMemPoolExportPointer(data: *mut ShareableHandle, address: CUdeviceptr) [sharing::export_pointer];
    11020 cuMemPoolImportPointer(
        address: *mut CUdeviceptr, pool: CUmemoryPool, data: *mut ShareableHandle,
    ) [sharing::import_pointer];

    11070 cuMemGetHandleForAddressRange(
        handle: *mut c_void, address: CUdeviceptr, bytes: usize, kind: c_int, flags: c_ulonglong,
    ) [external::range_handle];

    unsupported {
        2000 cuMemAlloc, 2000 cuMemAllocHost, 2000 cuMemAllocPitch,
        13000 cuMemDiscardAndPrefetchBatchAsync / 13000 cuMemDiscardAndPrefetchBatchAsync_ptsz,
        13000 cuMemDiscardBatchAsync / 13000 cuMemDiscardBatchAsync_ptsz, 2000 cuMemFree,
        2000 cuMemGetAddressRange, 2000 cuMemGetInfo, 2020 cuMemHostGetDevicePointer,
        13000 cuMemPrefetchBatchAsync / 13000 cuMemPrefetchBatchAsync_ptsz,
        11010 cuMemMapArrayAsync / 11010 cuMemMapArrayAsync_ptsz, 12010 cuMulticastAddDevice,
        12010 cuMulticastBindAddr, 12010 cuMulticastBindMem, 12010 cuMulticastCreate,
        12010 cuMulticastGetGranularity, 12010 cuMulticastUnbind,
    }
}
