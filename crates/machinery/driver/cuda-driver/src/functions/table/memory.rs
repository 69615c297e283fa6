//! Rows of the driver API's function table: memory allocation and pointer attributes.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUdevice, CUdeviceptr, CUstream};

use super::*;
use crate::simulator::{managed, memory, pointer};
use crate::types::CUmemLocation;

functions! {
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

    unsupported {
        2000 cuMemAlloc, 2000 cuMemAllocHost, 2000 cuMemAllocPitch,
        13000 cuMemDiscardAndPrefetchBatchAsync / 13000 cuMemDiscardAndPrefetchBatchAsync_ptsz,
        13000 cuMemDiscardBatchAsync / 13000 cuMemDiscardBatchAsync_ptsz, 2000 cuMemFree,
        2000 cuMemGetAddressRange, 2000 cuMemGetInfo, 2020 cuMemHostGetDevicePointer,
        13000 cuMemPrefetchBatchAsync / 13000 cuMemPrefetchBatchAsync_ptsz,
    }
}
