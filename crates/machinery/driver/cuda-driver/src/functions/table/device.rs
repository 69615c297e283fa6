//! Rows of the driver API's function table: initialization, error handling, devices and contexts.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use super::*;
use crate::api::{context, device, error, event, green_context, image};
use crate::functions::{backend, lookup};
use crate::types::{
    CUcontext, CUctxCreateParams, CUdevResource, CUdevice, CUdevprop, CUevent, CUexecAffinityParam,
    CUstream, CUuuid,
};

functions! {
    // Initialization, errors and devices
    2000 cuInit(flags: c_uint) [backend::init, always];
    2020 cuDriverGetVersion(version: *mut c_int) [backend::driver_version, always];
    6000 cuGetErrorString(error: c_int, text: *mut *const c_char) [error::string, always];
    6000 cuGetErrorName(error: c_int, text: *mut *const c_char) [error::name, always];
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
    ) [lookup::address, always];
    12000 cuGetProcAddress_v2(
        name: *const c_char, function: *mut *mut c_void, version: c_int, flags: c_ulonglong,
        status: *mut c_int,
    ) [lookup::address_with_status, always];
    3000 cuGetExportTable(
        table: *mut *const c_void, which: *const CUuuid,
    ) [lookup::export_table, always];
    4010 cuDeviceGetByPCIBusId(device: *mut CUdevice, pci_bus_id: *const c_char) [device::by_bus_id];
    8000 cuDeviceGetP2PAttribute(
        value: *mut c_int, attribute: c_int, from: CUdevice, to: CUdevice,
    ) [device::peer_attribute];
    11040 cuDeviceGetExecAffinitySupport(
        supported: *mut c_int, kind: c_int, device: CUdevice,
    ) [device::affinity_support];
    2000 cuDeviceGetProperties(properties: *mut CUdevprop, device: CUdevice) [device::properties];

    11010 cuDeviceGetTexture1DLinearMaxWidth(
        width: *mut usize, format: c_int, channels: c_uint, device: CUdevice,
    ) [image::max_linear_texture_width];
    10000 cuDeviceGetLuid(luid: *mut c_char, node_mask: *mut c_uint, device: CUdevice) [device::luid];
    11030 cuFlushGPUDirectRDMAWrites(target: c_int, scope: c_int) [device::flush_remote_writes];

    // Contexts
    7000 cuDevicePrimaryCtxRetain(ctx: *mut CUcontext, device: CUdevice) [context::retain_primary];
    11000 cuDevicePrimaryCtxRelease_v2(device: CUdevice) [context::release_primary];
    11000 cuDevicePrimaryCtxReset_v2(device: CUdevice) [context::reset_primary];
    11000 cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) [context::set_primary_flags];
    7000 cuDevicePrimaryCtxGetState(
        device: CUdevice, flags: *mut c_uint, active: *mut c_int,
    ) [context::primary_state];
    3020 cuCtxCreate_v2(ctx: *mut CUcontext, flags: c_uint, device: CUdevice) [context::create];
    4000 cuCtxDestroy_v2(ctx: CUcontext) [context::destroy];
    4000 cuCtxPushCurrent_v2(ctx: CUcontext) [context::push];
    4000 cuCtxPopCurrent_v2(ctx: *mut CUcontext) [context::pop];
    4000 cuCtxSetCurrent(ctx: CUcontext) [context::set_current];
    4000 cuCtxGetCurrent(ctx: *mut CUcontext) [context::get_current];
    2000 cuCtxGetDevice(device: *mut CUdevice) [context::device];
    7000 cuCtxGetFlags(flags: *mut c_uint) [context::flags];
    3020 cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) [context::api_version];
    2000 cuCtxSynchronize() [context::synchronize];
    3010 cuCtxGetLimit(value: *mut usize, limit: c_int) [context::limit];
    3010 cuCtxSetLimit(limit: c_int, value: usize) [context::set_limit];
    3020 cuCtxGetCacheConfig(config: *mut c_int) [context::cache_config];
    3020 cuCtxSetCacheConfig(config: c_int) [context::set_cache_config];
    4020 cuCtxGetSharedMemConfig(config: *mut c_int) [context::shared_config];
    4020 cuCtxSetSharedMemConfig(config: c_int) [context::set_shared_config];
    5050 cuCtxGetStreamPriorityRange(
        least_priority: *mut c_int, greatest_priority: *mut c_int,
    ) [context::stream_priority_range];
    4000 cuCtxEnablePeerAccess(peer_context: CUcontext, flags: c_uint) [context::enable_peer];
    4000 cuCtxDisablePeerAccess(peer_context: CUcontext) [context::disable_peer];
    2000 cuCtxCreate(ctx: *mut CUcontext, flags: c_uint, device: CUdevice) [context::create];
    11040 cuCtxCreate_v3(
        ctx: *mut CUcontext, affinities: *const CUexecAffinityParam, count: c_int, flags: c_uint,
        device: CUdevice,
    ) [context::create_with_affinity];
    12050 cuCtxCreate_v4(
        ctx: *mut CUcontext, parameters: *const CUctxCreateParams, flags: c_uint, device: CUdevice,
    ) [context::create_with_parameters];
    11040 cuCtxGetExecAffinity(affinity: *mut CUexecAffinityParam, kind: c_int) [context::affinity];
    12000 cuCtxGetId(ctx: CUcontext, id: *mut c_ulonglong) [context::id];
    12010 cuCtxSetFlags(flags: c_uint) [context::set_flags];
    13000 cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) [context::device_of];
    13000 cuCtxSynchronize_v2(ctx: CUcontext) [context::synchronize_one];
    11000 cuCtxResetPersistingL2Cache() [context::reset_persisting_cache];
    2000 cuCtxDestroy(ctx: CUcontext) [context::destroy];
    12050 cuCtxRecordEvent(ctx: CUcontext, event: CUevent) [event::record_in_context];
    12050 cuCtxWaitEvent(ctx: CUcontext, event: CUevent) [event::wait_in_context];
    2000 cuCtxAttach(ctx: *mut CUcontext, flags: c_uint) [context::attach];
    2000 cuCtxDetach(ctx: CUcontext) [context::detach];
    2000 cuCtxPushCurrent(ctx: CUcontext) [context::push];
    2000 cuCtxPopCurrent(ctx: *mut CUcontext) [context::pop];
    7000 cuDevicePrimaryCtxRelease(device: CUdevice) [context::release_primary];
    7000 cuDevicePrimaryCtxReset(device: CUdevice) [context::reset_primary];
    7000 cuDevicePrimaryCtxSetFlags(device: CUdevice, flags: c_uint) [context::set_primary_flags];

    // Resources of devices, and green contexts
    12040 cuDeviceGetDevResource(
        device: CUdevice, resource: *mut CUdevResource, kind: c_int,
    ) [green_context::of_device];
    12040 cuCtxGetDevResource(
        ctx: CUcontext, resource: *mut CUdevResource, kind: c_int,
    ) [green_context::of_context];
    12040 cuGreenCtxGetDevResource(
        green: *mut c_void, resource: *mut CUdevResource, kind: c_int,
    ) [green_context::of_green];
    12040 cuDevSmResourceSplitByCount(
        groups: *mut CUdevResource, count: *mut c_uint, input: *const CUdevResource,
        remaining: *mut CUdevResource, flags: c_uint, minimum: c_uint,
    ) [green_context::split];
    12040 cuDevResourceGenerateDesc(
        description: *mut *mut c_void, resources: *mut CUdevResource, count: c_uint,
    ) [green_context::describe];
    12040 cuGreenCtxCreate(
        green: *mut *mut c_void, description: *mut c_void, device: CUdevice, flags: c_uint,
    ) [green_context::create];
    12040 cuGreenCtxDestroy(green: *mut c_void) [green_context::destroy];
    12040 cuCtxFromGreenCtx(ctx: *mut CUcontext, green: *mut c_void) [green_context::to_context];
    12090 cuGreenCtxGetId(green: *mut c_void, id: *mut c_ulonglong) [green_context::id];
    12050 cuGreenCtxStreamCreate(
        stream: *mut CUstream, green: *mut c_void, flags: c_uint, priority: c_int,
    ) [green_context::create_stream];
    12040 cuGreenCtxRecordEvent(green: *mut c_void, event: CUevent) [green_context::record];
    12040 cuGreenCtxWaitEvent(green: *mut c_void, event: CUevent) [green_context::wait];

    unsupported {
        13000 cuDeviceGetHostAtomicCapabilities, 10020 cuDeviceGetNvSciSyncAttributes,
        13000 cuDeviceGetP2PAtomicCapabilities, 12040 cuDeviceRegisterAsyncNotification, 2000 cuDeviceTotalMem,
        12040 cuDeviceUnregisterAsyncNotification,
    }
}
