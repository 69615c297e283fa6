//! Rows of the driver API's function table: memory allocation, pointer attributes, memory pools, virtual memory
//! management, interprocess memory, copies and fills.

use std::ffi::{c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use super::*;
use crate::api::{managed, memcpy, memory, pool, sharing, virtual_memory};
use crate::types::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUcontext, CUdevice, CUdeviceptr,
    CUevent, CUmemAccessDesc, CUmemAllocationProp, CUmemLocation, CUmemPoolProps, CUmemoryPool,
    CUstream, MemcpyAttributes, MemcpyBatchOp, ShareableHandle,
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
    4000 cuPointerGetAttribute(data: *mut c_void, attribute: c_int, ptr: CUdeviceptr) [memory::attribute];
    8000 cuMemAdvise(dev_ptr: CUdeviceptr, count: usize, advice: c_int, device: CUdevice) [managed::advise];
    8000 cuMemPrefetchAsync(
        dev_ptr: CUdeviceptr, count: usize, dst_device: CUdevice, stream: CUstream,
    ) [managed::prefetch] / 8000 cuMemPrefetchAsync_ptsz;
    7000 cuPointerGetAttributes(
        count: c_uint, attributes: *mut c_int, data: *mut *mut c_void, ptr: CUdeviceptr,
    ) [memory::attributes];
    6000 cuPointerSetAttribute(
        value: *const c_void, attribute: c_int, ptr: CUdeviceptr,
    ) [memory::set_attribute];
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
    ) [sharing::range_handle];

    // Copies
    4000 cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize) [memcpy::unified] / 7000 cuMemcpy_ptds;
    4000 cuMemcpyAsync(
        dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::unified_async] / 7000 cuMemcpyAsync_ptsz;
    3020 cuMemcpyHtoD_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize,
    ) [memcpy::host_to_device] / 7000 cuMemcpyHtoD_v2_ptds;
    3020 cuMemcpyHtoDAsync_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize, stream: CUstream,
    ) [memcpy::host_to_device_async] / 7000 cuMemcpyHtoDAsync_v2_ptsz;
    3020 cuMemcpyDtoH_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_host] / 7000 cuMemcpyDtoH_v2_ptds;
    3020 cuMemcpyDtoHAsync_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::device_to_host_async] / 7000 cuMemcpyDtoHAsync_v2_ptsz;
    3020 cuMemcpyDtoD_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_device] / 7000 cuMemcpyDtoD_v2_ptds;
    3020 cuMemcpyDtoDAsync_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::device_to_device_async] / 7000 cuMemcpyDtoDAsync_v2_ptsz;
    3020 cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) [memcpy::two_d] / 7000 cuMemcpy2D_v2_ptds;
    3020 cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) [memcpy::two_d] / 7000 cuMemcpy2DUnaligned_v2_ptds;
    3020 cuMemcpy2DAsync_v2(
        copy: *const CUDA_MEMCPY2D, stream: CUstream,
    ) [memcpy::two_d_async] / 7000 cuMemcpy2DAsync_v2_ptsz;
    3020 cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) [memcpy::three_d] / 7000 cuMemcpy3D_v2_ptds;
    3020 cuMemcpy3DAsync_v2(
        copy: *const CUDA_MEMCPY3D, stream: CUstream,
    ) [memcpy::three_d_async] / 7000 cuMemcpy3DAsync_v2_ptsz;
    3020 cuMemcpyHtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize,
    ) [memcpy::host_to_array] / 7000 cuMemcpyHtoA_v2_ptds;
    3020 cuMemcpyAtoH_v2(
        dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_host] / 7000 cuMemcpyAtoH_v2_ptds;
    3020 cuMemcpyDtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_array] / 7000 cuMemcpyDtoA_v2_ptds;
    3020 cuMemcpyAtoD_v2(
        dst_device: CUdeviceptr, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_device] / 7000 cuMemcpyAtoD_v2_ptds;
    3020 cuMemcpyAtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_array] / 7000 cuMemcpyAtoA_v2_ptds;
    3020 cuMemcpyHtoAAsync_v2(
        dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize, stream:
        CUstream,
    ) [memcpy::host_to_array_async] / 7000 cuMemcpyHtoAAsync_v2_ptsz;
    3020 cuMemcpyAtoHAsync_v2(
        dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize, stream:
        CUstream,
    ) [memcpy::array_to_host_async] / 7000 cuMemcpyAtoHAsync_v2_ptsz;
    4000 cuMemcpyPeer(
        dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context:
        CUcontext, byte_count: usize,
    ) [memcpy::peer] / 7000 cuMemcpyPeer_ptds;
    4000 cuMemcpyPeerAsync(
        dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context:
        CUcontext, byte_count: usize, stream: CUstream,
    ) [memcpy::peer_async] / 7000 cuMemcpyPeerAsync_ptsz;
    4000 cuMemcpy3DPeer(copy: *const CUDA_MEMCPY3D_PEER) [memcpy::three_d_peer] / 7000 cuMemcpy3DPeer_ptds;
    4000 cuMemcpy3DPeerAsync(
        copy: *const CUDA_MEMCPY3D_PEER, stream: CUstream,
    ) [memcpy::three_d_peer_async] / 7000 cuMemcpy3DPeerAsync_ptsz;

    12080 cuMemcpyBatchAsync(
        destinations: *mut CUdeviceptr, sources: *mut CUdeviceptr, sizes: *mut usize, count: usize,
        attributes: *mut MemcpyAttributes, attribute_starts: *mut usize, attribute_count: usize,
        failed: *mut usize, stream: CUstream,
    ) [memcpy::batch_v1] / 12080 cuMemcpyBatchAsync_ptsz;
    13000 cuMemcpyBatchAsync_v2(
        destinations: *mut CUdeviceptr, sources: *mut CUdeviceptr, sizes: *mut usize, count: usize,
        attributes: *mut MemcpyAttributes, attribute_starts: *mut usize, attribute_count: usize,
        stream: CUstream,
    ) [memcpy::batch] / 13000 cuMemcpyBatchAsync_v2_ptsz;
    12080 cuMemcpy3DBatchAsync(
        count: usize, copies: *mut MemcpyBatchOp, failed: *mut usize, flags: c_ulonglong, stream: CUstream,
    ) [memcpy::batch_3d_v1] / 12080 cuMemcpy3DBatchAsync_ptsz;
    13000 cuMemcpy3DBatchAsync_v2(
        count: usize, copies: *mut MemcpyBatchOp, flags: c_ulonglong, stream: CUstream,
    ) [memcpy::batch_3d] / 13000 cuMemcpy3DBatchAsync_v2_ptsz;

    // Fills
    3020 cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize) [memcpy::d8] / 7000 cuMemsetD8_v2_ptds;
    3020 cuMemsetD8Async(
        dst_device: CUdeviceptr, uc: c_uchar, n: usize, stream: CUstream,
    ) [memcpy::d8_async] / 7000 cuMemsetD8Async_ptsz;
    3020 cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize) [memcpy::d16] / 7000 cuMemsetD16_v2_ptds;
    3020 cuMemsetD16Async(
        dst_device: CUdeviceptr, us: c_ushort, n: usize, stream: CUstream,
    ) [memcpy::d16_async] / 7000 cuMemsetD16Async_ptsz;
    3020 cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize) [memcpy::d32] / 7000 cuMemsetD32_v2_ptds;
    3020 cuMemsetD32Async(
        dst_device: CUdeviceptr, ui: c_uint, n: usize, stream: CUstream,
    ) [memcpy::d32_async] / 7000 cuMemsetD32Async_ptsz;
    3020 cuMemsetD2D8_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize,
    ) [memcpy::rows_d8] / 7000 cuMemsetD2D8_v2_ptds;
    3020 cuMemsetD2D8Async(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d8_async] / 7000 cuMemsetD2D8Async_ptsz;
    3020 cuMemsetD2D16_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize,
    ) [memcpy::rows_d16] / 7000 cuMemsetD2D16_v2_ptds;
    3020 cuMemsetD2D16Async(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d16_async] / 7000 cuMemsetD2D16Async_ptsz;
    3020 cuMemsetD2D32_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize,
    ) [memcpy::rows_d32] / 7000 cuMemsetD2D32_v2_ptds;
    3020 cuMemsetD2D32Async(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d32_async] / 7000 cuMemsetD2D32Async_ptsz;

    unsupported {
        12060 cuMemBatchDecompressAsync / 12060 cuMemBatchDecompressAsync_ptsz, 2000 cuMemcpy2D,
        2000 cuMemcpy2DAsync, 2000 cuMemcpy2DUnaligned, 2000 cuMemcpy3D, 2000 cuMemcpy3DAsync,
        2000 cuMemcpyAtoA, 2000 cuMemcpyAtoD,
        2000 cuMemcpyAtoH, 2000 cuMemcpyAtoHAsync, 2000 cuMemcpyDtoA, 2000 cuMemcpyDtoD,
        3000 cuMemcpyDtoDAsync, 2000 cuMemcpyDtoH, 2000 cuMemcpyDtoHAsync, 2000 cuMemcpyHtoA,
        2000 cuMemcpyHtoAAsync, 2000 cuMemcpyHtoD, 2000 cuMemcpyHtoDAsync,
        2000 cuMemsetD16, 2000 cuMemsetD2D16, 2000 cuMemsetD2D32, 2000 cuMemsetD2D8, 2000 cuMemsetD32,
        2000 cuMemsetD8,
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
