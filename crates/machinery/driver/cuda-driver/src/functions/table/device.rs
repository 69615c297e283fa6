//! Rows of the driver API's function table: initialization, error handling and device management.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cust_raw::{CUdevice, CUuuid};

use super::*;
use crate::simulator::device;
use crate::types::CUdevprop;
use crate::{backend, errors, proc_address};

functions! {
    2000 cuInit(flags: c_uint) [backend::init, always];
    2020 cuDriverGetVersion(version: *mut c_int) [device::driver_version, always];
    6000 cuGetErrorString(error: c_int, text: *mut *const c_char) [errors::string, always];
    6000 cuGetErrorName(error: c_int, text: *mut *const c_char) [errors::name, always];
    2000 cuDeviceGet(device: *mut CUdevice, ordinal: c_int) [device::get];
    2000 cuDeviceGetCount(count: *mut c_int) [device::count];
    2000 cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) [device::name];
    9020 cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice) [device::uuid];
    11040 cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice) [device::uuid];
    3020 cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) [device::total_memory];
    2000 cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: CUdevice) [device::attribute];
    2000 cuDeviceComputeCapability(
        major: *mut c_int, minor: *mut c_int, device: CUdevice,
    ) [device::compute_capability];
    4000 cuDeviceCanAccessPeer(
        can_access_peer: *mut c_int, device: CUdevice, peer_dev: CUdevice,
    ) [device::can_access_peer];
    4010 cuDeviceGetPCIBusId(pci_bus_id: *mut c_char, len: c_int, device: CUdevice) [device::bus_id];

    11030 cuGetProcAddress(
        name: *const c_char, function: *mut *mut c_void, version: c_int, flags: c_ulonglong,
    ) [proc_address::without_status, always];
    12000 cuGetProcAddress_v2(
        name: *const c_char, function: *mut *mut c_void, version: c_int, flags: c_ulonglong,
        status: *mut c_int,
    ) [proc_address::with_status, always];
    3000 cuGetExportTable(
        table: *mut *const c_void, which: *const CUuuid,
    ) [proc_address::export_table, always];
    4010 cuDeviceGetByPCIBusId(device: *mut CUdevice, pci_bus_id: *const c_char) [device::by_bus_id];
    8000 cuDeviceGetP2PAttribute(
        value: *mut c_int, attribute: c_int, from: CUdevice, to: CUdevice,
    ) [device::peer_attribute];
    11040 cuDeviceGetExecAffinitySupport(
        supported: *mut c_int, kind: c_int, device: CUdevice,
    ) [device::affinity_support];
    2000 cuDeviceGetProperties(properties: *mut CUdevprop, device: CUdevice) [device::properties];

    unsupported {
        12040 cuDeviceGetDevResource, 13000 cuDeviceGetHostAtomicCapabilities, 10000 cuDeviceGetLuid,
        10020 cuDeviceGetNvSciSyncAttributes, 13000 cuDeviceGetP2PAtomicCapabilities,
        11010 cuDeviceGetTexture1DLinearMaxWidth, 12040 cuDeviceRegisterAsyncNotification,
        2000 cuDeviceTotalMem, 12040 cuDeviceUnregisterAsyncNotification, 11030 cuFlushGPUDirectRDMAWrites,
    }
}
