//! Rows of the driver API's function table: modules, linking, libraries, kernels and execution
//! control (launches, attributes, occupancy, the profiler).

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::*;
use crate::api::{function, launch, library, module};
use crate::types::{
    CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlaunchConfig, CUlibrary, CUlinkState, CUmodule,
    CUoccupancyB2DSize, CUstream,
};

functions! {
    2000 cuModuleLoad(module: *mut CUmodule, path: *const c_char) [module::load_file];
    2000 cuModuleLoadData(module: *mut CUmodule, image: *const c_void) [module::load];
    2010 cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) [module::load_with_options];
    2000 cuModuleLoadFatBinary(module: *mut CUmodule, fat_cubin: *const c_void) [module::load];
    12040 cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule) [module::function_count];
    12040 cuModuleEnumerateFunctions(
        functions: *mut CUfunction, capacity: c_uint, module: CUmodule,
    ) [module::functions];
    11070 cuModuleGetLoadingMode(mode: *mut c_int) [module::loading_mode];
    2000 cuModuleUnload(module: CUmodule) [module::unload];
    2000 cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) [module::function];
    3020 cuModuleGetGlobal_v2(
        address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char,
    ) [module::global];
    6050 cuLinkCreate_v2(
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void, state_out: *mut
        CUlinkState,
    ) [library::link_create];
    6050 cuLinkAddData_v2(
        state: CUlinkState, kind: c_int, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
    ) [library::link_add];
    6050 cuLinkAddFile_v2(
        state: CUlinkState, kind: c_int, path: *const c_char, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) [library::link_add_file];
    5050 cuLinkComplete(
        state: CUlinkState, cubin_out: *mut *mut c_void, size_out: *mut usize,
    ) [library::link_complete];
    5050 cuLinkDestroy(state: CUlinkState) [library::link_destroy];

    12000 cuLibraryLoadData(
        library: *mut CUlibrary, code: *const c_void, options: *mut c_int, values: *mut *mut c_void,
        count: c_uint, library_options: *mut c_int, library_values: *mut *mut c_void,
        library_count: c_uint,
    ) [library::load];
    12000 cuLibraryLoadFromFile(
        library: *mut CUlibrary, path: *const c_char, options: *mut c_int, values: *mut *mut c_void,
        count: c_uint, library_options: *mut c_int, library_values: *mut *mut c_void,
        library_count: c_uint,
    ) [library::load_file];
    12000 cuLibraryUnload(library: CUlibrary) [library::unload];
    12000 cuLibraryGetKernel(
        kernel: *mut CUkernel, library: CUlibrary, name: *const c_char,
    ) [library::kernel];
    12040 cuLibraryGetKernelCount(count: *mut c_uint, library: CUlibrary) [library::kernel_count];
    12040 cuLibraryEnumerateKernels(
        kernels: *mut CUkernel, capacity: c_uint, library: CUlibrary,
    ) [library::kernels];
    12000 cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary) [library::module];
    12000 cuLibraryGetGlobal(
        address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char,
    ) [library::global];
    12000 cuLibraryGetManaged(
        address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char,
    ) [library::managed];
    12000 cuKernelGetFunction(function: *mut CUfunction, kernel: CUkernel) [library::kernel_function];
    12050 cuKernelGetLibrary(library: *mut CUlibrary, kernel: CUkernel) [library::kernel_library];
    12030 cuKernelGetName(name: *mut *const c_char, kernel: CUkernel) [library::kernel_name];
    12040 cuKernelGetParamInfo(
        kernel: CUkernel, index: usize, offset: *mut usize, size: *mut usize,
    ) [library::kernel_parameter];
    12000 cuKernelGetAttribute(
        value: *mut c_int, attribute: c_int, kernel: CUkernel, device: CUdevice,
    ) [library::kernel_attribute];
    12000 cuKernelSetAttribute(
        attribute: c_int, value: c_int, kernel: CUkernel, device: CUdevice,
    ) [library::set_kernel_attribute];
    12000 cuKernelSetCacheConfig(
        kernel: CUkernel, config: c_int, device: CUdevice,
    ) [library::set_cache_config];
    5050 cuLinkCreate(
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void, state_out: *mut
        CUlinkState,
    ) [library::link_create];
    5050 cuLinkAddData(
        state: CUlinkState, kind: c_int, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
    ) [library::link_add];
    5050 cuLinkAddFile(
        state: CUlinkState, kind: c_int, path: *const c_char, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) [library::link_add_file];

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

    // Launches as of CUDA 3
    2000 cuFuncSetBlockShape(
        function: CUfunction, x: c_int, y: c_int, z: c_int,
    ) [function::set_block_shape];
    2000 cuFuncSetSharedSize(function: CUfunction, bytes: c_uint) [function::set_shared_size];
    2000 cuParamSetSize(function: CUfunction, bytes: c_uint) [function::set_parameter_size];
    2000 cuParamSeti(function: CUfunction, offset: c_int, value: c_uint) [function::set_integer];
    2000 cuParamSetf(function: CUfunction, offset: c_int, value: f32) [function::set_float];
    2000 cuParamSetv(
        function: CUfunction, offset: c_int, value: *mut c_void, bytes: c_uint,
    ) [function::set_bytes];
    2000 cuLaunch(function: CUfunction) [function::launch_stored];
    2000 cuLaunchGrid(function: CUfunction, width: c_int, height: c_int) [function::launch_grid];
    2000 cuLaunchGridAsync(
        function: CUfunction, width: c_int, height: c_int, stream: CUstream,
    ) [function::launch_grid_async];

    12000 cuLibraryGetUnifiedFunction(
        function: *mut *mut c_void, library: CUlibrary, symbol: *const c_char,
    ) [library::unified_function];

    unsupported {
        2000 cuModuleGetGlobal, 9000 cuLaunchCooperativeKernelMultiDevice,
    }
}
