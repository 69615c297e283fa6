//! Rows of the driver API's function table: virtual memory management and interprocess memory.

use std::ffi::{c_int, c_ulonglong, c_void};

use cust_raw::CUdeviceptr;

use super::*;
use crate::simulator::virtual_memory;
use crate::types::{CUmemAccessDesc, CUmemAllocationProp, CUmemLocation};

functions! {
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

    unsupported {
        4010 cuIpcCloseMemHandle, 4010 cuIpcGetEventHandle, 4010 cuIpcGetMemHandle, 4010 cuIpcOpenEventHandle,
        4010 cuIpcOpenMemHandle, 11000 cuIpcOpenMemHandle_v2, 10020 cuMemExportToShareableHandle,
        11070 cuMemGetHandleForAddressRange, 10020 cuMemImportFromShareableHandle,
        11010 cuMemMapArrayAsync / 11010 cuMemMapArrayAsync_ptsz, 12010 cuMulticastAddDevice,
        12010 cuMulticastBindAddr, 12010 cuMulticastBindMem, 12010 cuMulticastCreate,
        12010 cuMulticastGetGranularity, 12010 cuMulticastUnbind,
    }
}
