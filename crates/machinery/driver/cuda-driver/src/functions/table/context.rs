//! Rows of the driver API's function table: context management.

use std::ffi::{c_int, c_uint, c_ulonglong};

use cust_raw::{CUcontext, CUdevice};

use super::*;
use crate::simulator::context;
use crate::types::{CUctxCreateParams, CUexecAffinityParam};

functions! {
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
    2000 cuCtxPushCurrent(ctx: CUcontext) [context::push];
    2000 cuCtxPopCurrent(ctx: *mut CUcontext) [context::pop];
    7000 cuDevicePrimaryCtxRelease(device: CUdevice) [context::release_primary];
    7000 cuDevicePrimaryCtxReset(device: CUdevice) [context::reset_primary];
    7000 cuDevicePrimaryCtxSetFlags(device: CUdevice, flags: c_uint) [context::set_primary_flags];

    unsupported {
        2000 cuCtxAttach, 2000 cuCtxDetach, 12040 cuCtxFromGreenCtx, 12040 cuCtxGetDevResource,
        12050 cuCtxRecordEvent, 12050 cuCtxWaitEvent, 12040 cuDevResourceGenerateDesc,
        12040 cuDevSmResourceSplitByCount, 12040 cuGreenCtxCreate, 12040 cuGreenCtxDestroy,
        12040 cuGreenCtxGetDevResource, 12090 cuGreenCtxGetId, 12040 cuGreenCtxRecordEvent,
        12050 cuGreenCtxStreamCreate, 12040 cuGreenCtxWaitEvent,
    }
}
