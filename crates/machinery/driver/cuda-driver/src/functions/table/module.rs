//! Rows of the driver API's function table: modules, linking, libraries and their kernels.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cust_raw::{CUdevice, CUdeviceptr, CUfunction, CUlinkState, CUmodule};

use super::*;
use crate::api::{library, link, module};
use crate::types::{CUkernel, CUlibrary};

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
    ) [link::create];
    6050 cuLinkAddData_v2(
        state: CUlinkState, kind: c_int, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
    ) [link::add];
    6050 cuLinkAddFile_v2(
        state: CUlinkState, kind: c_int, path: *const c_char, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) [link::add_file];
    5050 cuLinkComplete(
        state: CUlinkState, cubin_out: *mut *mut c_void, size_out: *mut usize,
    ) [link::complete];
    5050 cuLinkDestroy(state: CUlinkState) [link::destroy];

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
    ) [link::create];
    5050 cuLinkAddData(
        state: CUlinkState, kind: c_int, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
    ) [link::add];
    5050 cuLinkAddFile(
        state: CUlinkState, kind: c_int, path: *const c_char, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) [link::add_file];

    unsupported {
        12000 cuLibraryGetUnifiedFunction, 2000 cuModuleGetGlobal, 3000 cuModuleGetSurfRef,
        2000 cuModuleGetTexRef,
    }
}
