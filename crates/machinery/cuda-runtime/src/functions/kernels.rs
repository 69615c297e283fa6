//! Launches, and what is known and set of kernels.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cust_raw::{CUfunction, CUstream};

use super::entry::Entry;
use crate::last_error::{call, missing};
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{Dim3, FunctionAttributes, LaunchConfig};
use crate::{kernel, launch, occupancy, symbols};

functions! {
    cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchKernel_ptsz => launch::kernel;
    cudaLaunchKernelExC(
        config: *const LaunchConfig, function: *const c_void, arguments: *mut *mut c_void,
    ) | cudaLaunchKernelExC_ptsz => launch::with_config;
    cudaLaunchCooperativeKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchCooperativeKernel_ptsz => launch::cooperative_kernel;
    cudaLaunchCooperativeKernelMultiDevice(list: *mut c_void, devices: c_uint, flags: c_uint);
    cudaConfigureCall(
        grid: Dim3, block: Dim3, dynamic_shared: usize, stream: CUstream,
    ) => launch::configure;
    cudaSetupArgument(value: *const c_void, bytes: usize, offset: usize) => launch::argument;
    cudaLaunch(function: *const c_void) | cudaLaunch_ptsz => launch::configured;
    cudaFuncGetAttributes(
        attributes: *mut FunctionAttributes, function: *const c_void,
    ) => kernel::attributes;
    cudaFuncSetAttribute(
        function: *const c_void, attribute: c_int, value: c_int,
    ) => kernel::set_attribute;
    cudaFuncSetCacheConfig(function: *const c_void, config: c_int) => kernel::set_cache_config;
    cudaFuncSetSharedMemConfig(
        function: *const c_void, config: c_int,
    ) => kernel::set_shared_config;
    cudaFuncGetName(name: *mut *const c_char, function: *const c_void) => kernel::name;
    cudaFuncGetParamInfo(
        function: *const c_void, index: usize, offset: *mut usize, size: *mut usize,
    );
    cudaGetFuncBySymbol(found: *mut CUfunction, symbol: *const c_void) => symbols::function;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: *const c_void, threads: c_int, dynamic_shared: usize,
    ) => occupancy::active_blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: *const c_void, threads: c_int, dynamic_shared: usize,
        flags: c_uint,
    ) => occupancy::active_blocks_with_flags;
    cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, function: *const c_void, blocks: c_int, threads: c_int,
    ) => occupancy::available_dynamic_shared;
    cudaOccupancyMaxPotentialClusterSize(
        size: *mut c_int, function: *const c_void, config: *const LaunchConfig,
    );
    cudaOccupancyMaxActiveClusters(
        clusters: *mut c_int, function: *const c_void, config: *const LaunchConfig,
    );
}
