//! Lines of the runtime API's function table: kernel launches and kernel attributes.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cust_raw::{CUfunction, CUstream};

use super::entry::Entry;
use crate::last_error::{call, unsupported};
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{Dim3, FunctionAttributes, LaunchConfig};
use crate::{kernel_attributes, launch, occupancy, symbols};

functions! {
    cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchKernel_ptsz => launch::launch_kernel;
    cudaLaunchKernelExC(
        config: *const LaunchConfig, function: *const c_void, arguments: *mut *mut c_void,
    ) | cudaLaunchKernelExC_ptsz => launch::launch_with_config;
    cudaLaunchCooperativeKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchCooperativeKernel_ptsz => launch::launch_cooperative;
    cudaLaunchCooperativeKernelMultiDevice(list: *mut c_void, devices: c_uint, flags: c_uint);
    cudaConfigureCall(
        grid: Dim3, block: Dim3, dynamic_shared: usize, stream: CUstream,
    ) => launch::configure_call;
    cudaSetupArgument(value: *const c_void, bytes: usize, offset: usize) => launch::setup_argument;
    cudaLaunch(function: *const c_void) | cudaLaunch_ptsz => launch::launch_configured;
    cudaFuncGetAttributes(
        attributes: *mut FunctionAttributes, function: *const c_void,
    ) => kernel_attributes::attributes;
    cudaFuncSetAttribute(
        function: *const c_void, attribute: c_int, value: c_int,
    ) => kernel_attributes::set_attribute;
    cudaFuncSetCacheConfig(function: *const c_void, config: c_int) => kernel_attributes::set_cache_config;
    cudaFuncSetSharedMemConfig(
        function: *const c_void, config: c_int,
    ) => kernel_attributes::set_shared_config;
    cudaFuncGetName(name: *mut *const c_char, function: *const c_void) => kernel_attributes::name;
    cudaFuncGetParamInfo(
        function: *const c_void, index: usize, offset: *mut usize, size: *mut usize,
    );
    cudaGetFuncBySymbol(function: *mut CUfunction, symbol: *const c_void) => symbols::function;
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
