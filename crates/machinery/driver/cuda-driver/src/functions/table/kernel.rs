//! Rows of the driver API's function table: execution control (launches, attributes, occupancy, the profiler).

use std::ffi::{c_char, c_int, c_uint, c_void};

use cust_raw::{CUfunction, CUmodule, CUoccupancyB2DSize, CUstream};

use super::*;
use crate::api::{function, launch};
use crate::types::CUlaunchConfig;

functions! {
    4000 cuLaunchKernel(
        f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint,
        block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params:
        *mut *mut c_void, extra: *mut *mut c_void,
    ) [launch::kernel] / 7000 cuLaunchKernel_ptsz;
    9000 cuLaunchCooperativeKernel(
        f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint,
        block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params:
        *mut *mut c_void,
    ) [launch::cooperative_kernel] / 9000 cuLaunchCooperativeKernel_ptsz;
    2020 cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: CUfunction) [function::attribute];
    9000 cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int) [function::set_attribute];
    3000 cuFuncSetCacheConfig(function: CUfunction, config: c_int) [function::set_cache_config];
    4020 cuFuncSetSharedMemConfig(function: CUfunction, config: c_int) [function::set_shared_config];
    11000 cuFuncGetModule(module: *mut CUmodule, function: CUfunction) [function::module];
    6050 cuOccupancyMaxActiveBlocksPerMultiprocessor(
        num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize,
    ) [function::active_blocks];
    7000 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize, flags:
        c_uint,
    ) [function::active_blocks_with_flags];
    6050 cuOccupancyMaxPotentialBlockSize(
        min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction,
        block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit:
        c_int,
    ) [function::potential_block_size];
    7000 cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction,
        block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit:
        c_int, flags: c_uint,
    ) [function::potential_block_size_with_flags];
    10020 cuOccupancyAvailableDynamicSMemPerBlock(
        dynamic_smem_size: *mut usize, func: CUfunction, num_blocks: c_int, block_size: c_int,
    ) [function::available_dynamic_shared];
    4000 cuProfilerStart() [function::switch_profiler];
    4000 cuProfilerStop() [function::switch_profiler];

    11060 cuLaunchKernelEx(
        config: *const CUlaunchConfig, f: CUfunction, kernel_params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) [launch::kernel_with_attributes] / 11060 cuLaunchKernelEx_ptsz;
    12030 cuFuncGetName(name: *mut *const c_char, function: CUfunction) [function::name];
    12040 cuFuncGetParamInfo(
        function: CUfunction, index: usize, offset: *mut usize, size: *mut usize,
    ) [function::parameter];
    12040 cuFuncIsLoaded(state: *mut c_int, function: CUfunction) [function::is_loaded];
    12040 cuFuncLoad(function: CUfunction) [function::load];
    11070 cuOccupancyMaxActiveClusters(
        clusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig,
    ) [function::active_clusters];
    11070 cuOccupancyMaxPotentialClusterSize(
        size: *mut c_int, func: CUfunction, config: *const CUlaunchConfig,
    ) [function::cluster_size];
    4000 cuProfilerInitialize(
        config: *const c_char, output: *const c_char, format: c_int,
    ) [function::initialize_profiler];

    unsupported {
        2000 cuFuncSetBlockShape, 2000 cuFuncSetSharedSize, 2000 cuLaunch,
        9000 cuLaunchCooperativeKernelMultiDevice, 2000 cuLaunchGrid, 2000 cuLaunchGridAsync,
        2000 cuParamSetSize, 2000 cuParamSetTexRef, 2000 cuParamSetf, 2000 cuParamSeti, 2000 cuParamSetv,
    }
}
