//! The table of the driver API's functions.

#![expect(
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are those of C"
)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use cust_raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUarray, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUexternalMemory, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUhostFn, CUlinkState,
    CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUmodule, CUoccupancyB2DSize,
    CUstream, CUstreamCallback, CUsurfObject, CUtexObject, CUuuid,
};

use super::entry::{EntryPoint, Erased};
use crate::report::{guarded, not_in_library, not_simulated};
use crate::simulator::permitted;
use crate::simulator::{
    context, device, event, function, image, launch, memcpy, memory, memset, module, occupancy,
    pool, stream,
};
use crate::status::Code;
use crate::{errors, start};

functions! {
    // Starting, errors and the device
    cuInit(flags: c_uint) => start::init, always;
    cuDriverGetVersion(version: *mut c_int) => device::driver_version, always;
    cuGetErrorString(error: c_int, text: *mut *const c_char) => errors::string, always;
    cuGetErrorName(error: c_int, text: *mut *const c_char) => errors::name, always;
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int) => device::get;
    cuDeviceGetCount(count: *mut c_int) => device::count;
    cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) => device::name;
    cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice) => device::uuid;
    cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice) => device::uuid;
    cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) => device::total_memory;
    cuDeviceGetAttribute(
        value: *mut c_int, attribute: c_int, device: CUdevice,
    ) => device::attribute;
    cuDeviceComputeCapability(
        major: *mut c_int, minor: *mut c_int, device: CUdevice,
    ) => device::compute_capability;
    cuDeviceCanAccessPeer(
        can_access_peer: *mut c_int, device: CUdevice, peer_dev: CUdevice,
    ) => device::can_access_peer;
    cuDeviceGetPCIBusId(pci_bus_id: *mut c_char, len: c_int, device: CUdevice);

    // Contexts
    cuDevicePrimaryCtxRetain(ctx: *mut CUcontext, device: CUdevice) => context::retain_primary;
    cuDevicePrimaryCtxRelease_v2(device: CUdevice) => context::release_primary;
    cuDevicePrimaryCtxReset_v2(device: CUdevice) => context::reset_primary;
    cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) => context::set_primary_flags;
    cuDevicePrimaryCtxGetState(
        device: CUdevice, flags: *mut c_uint, active: *mut c_int,
    ) => context::primary_state;
    cuCtxCreate_v2(ctx: *mut CUcontext, flags: c_uint, device: CUdevice) => context::create;
    cuCtxDestroy_v2(ctx: CUcontext) => context::destroy;
    cuCtxPushCurrent_v2(ctx: CUcontext) => context::push;
    cuCtxPopCurrent_v2(ctx: *mut CUcontext) => context::pop;
    cuCtxSetCurrent(ctx: CUcontext) => context::set_current;
    cuCtxGetCurrent(ctx: *mut CUcontext) => context::get_current;
    cuCtxGetDevice(device: *mut CUdevice) => context::device;
    cuCtxGetFlags(flags: *mut c_uint) => context::flags;
    cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) => context::api_version;
    cuCtxSynchronize() => context::synchronize;
    cuCtxGetLimit(value: *mut usize, limit: c_int) => context::limit;
    cuCtxSetLimit(limit: c_int, value: usize) => context::set_limit;
    cuCtxGetCacheConfig(config: *mut c_int) => context::cache_config;
    cuCtxSetCacheConfig(config: c_int) => context::set_cache_config;
    cuCtxGetSharedMemConfig(config: *mut c_int) => context::shared_config;
    cuCtxSetSharedMemConfig(config: c_int) => context::set_shared_config;
    cuCtxGetStreamPriorityRange(
        least_priority: *mut c_int, greatest_priority: *mut c_int,
    ) => context::stream_priority_range;
    cuCtxEnablePeerAccess(peer_context: CUcontext, flags: c_uint);
    cuCtxDisablePeerAccess(peer_context: CUcontext);

    // Modules and linking
    cuModuleLoad(module: *mut CUmodule, path: *const c_char) => module::load_file;
    cuModuleLoadData(module: *mut CUmodule, image: *const c_void) => module::load;
    cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, num_options: c_uint, options: *mut c_int,
        option_values: *mut *mut c_void,
    ) => module::load_with_options;
    cuModuleLoadFatBinary(module: *mut CUmodule, fat_cubin: *const c_void);
    cuModuleUnload(module: CUmodule) => module::unload;
    cuModuleGetFunction(
        function: *mut CUfunction, module: CUmodule, name: *const c_char,
    ) => module::function;
    cuModuleGetGlobal_v2(
        address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char,
    ) => module::global;
    cuLinkCreate_v2(
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
        state_out: *mut CUlinkState,
    );
    cuLinkAddData_v2(
        state: CUlinkState, kind: c_int, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut c_int, option_values: *mut *mut c_void,
    );
    cuLinkAddFile_v2(
        state: CUlinkState, kind: c_int, path: *const c_char, num_options: c_uint,
        options: *mut c_int, option_values: *mut *mut c_void,
    );
    cuLinkComplete(state: CUlinkState, cubin_out: *mut *mut c_void, size_out: *mut usize);
    cuLinkDestroy(state: CUlinkState);

    // Allocation
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) => memory::info;
    cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) => memory::allocate;
    cuMemAllocPitch_v2(
        address: *mut CUdeviceptr, pitch: *mut usize, width_in_bytes: usize, height: usize,
        element_size_bytes: c_uint,
    ) => memory::allocate_pitched;
    cuMemAllocManaged(
        address: *mut CUdeviceptr, bytes: usize, flags: c_uint,
    ) => memory::allocate_managed;
    cuMemAllocAsync(
        address: *mut CUdeviceptr, bytes: usize, stream: CUstream,
    ) => memory::allocate_async;
    cuMemFree_v2(address: CUdeviceptr) => memory::free;
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) => memory::free_async;
    cuMemAllocHost_v2(pp: *mut *mut c_void, bytes: usize) => memory::allocate_host;
    cuMemHostAlloc(
        pp: *mut *mut c_void, bytes: usize, flags: c_uint,
    ) => memory::allocate_host_with_flags;
    cuMemFreeHost(p: *mut c_void) => memory::free_host;
    cuMemHostGetDevicePointer_v2(
        address: *mut CUdeviceptr, p: *mut c_void, flags: c_uint,
    ) => memory::host_device_pointer;
    cuMemHostRegister_v2(p: *mut c_void, bytes: usize, flags: c_uint) => memory::register_host;
    cuMemHostUnregister(p: *mut c_void) => memory::unregister_host;
    cuMemHostGetFlags(flags: *mut c_uint, p: *mut c_void) => memory::host_flags;
    cuMemGetAddressRange_v2(
        base: *mut CUdeviceptr, size: *mut usize, address: CUdeviceptr,
    ) => memory::address_range;
    cuPointerGetAttribute(
        data: *mut c_void, attribute: c_int, ptr: CUdeviceptr,
    ) => memory::pointer_attribute;
    cuMemAdvise(
        dev_ptr: CUdeviceptr, count: usize, advice: c_int, device: CUdevice,
    ) => memory::advise;
    cuMemPrefetchAsync(
        dev_ptr: CUdeviceptr, count: usize, dst_device: CUdevice, stream: CUstream,
    ) => memory::prefetch;

    // Pools
    cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) => pool::default;
    cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice) => pool::get;
    cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) => pool::set;
    cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) => pool::create;
    cuMemPoolDestroy(pool: CUmemoryPool) => pool::destroy;
    cuMemPoolTrimTo(pool: CUmemoryPool, min_bytes_to_keep: usize) => pool::trim;
    cuMemPoolSetAttribute(
        pool: CUmemoryPool, attribute: c_int, value: *mut c_void,
    ) => pool::set_attribute;
    cuMemPoolGetAttribute(
        pool: CUmemoryPool, attribute: c_int, value: *mut c_void,
    ) => pool::attribute;
    cuMemPoolSetAccess(
        pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize,
    ) => pool::set_access;
    cuMemPoolGetAccess(
        flags: *mut c_int, pool: CUmemoryPool, location: *mut CUmemLocation,
    ) => pool::access;
    cuMemAllocFromPoolAsync(
        address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream,
    ) => memory::allocate_from_pool;

    // Copies
    cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize) => memcpy::unified;
    cuMemcpyAsync(
        dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) => memcpy::unified_async;
    cuMemcpyHtoD_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize,
    ) => memcpy::host_to_device;
    cuMemcpyHtoDAsync_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize, stream: CUstream,
    ) => memcpy::host_to_device_async;
    cuMemcpyDtoH_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize,
    ) => memcpy::device_to_host;
    cuMemcpyDtoHAsync_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) => memcpy::device_to_host_async;
    cuMemcpyDtoD_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize,
    ) => memcpy::device_to_device;
    cuMemcpyDtoDAsync_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) => memcpy::device_to_device_async;
    cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) => memcpy::two_d;
    cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) => memcpy::two_d;
    cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) => memcpy::two_d_async;
    cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) => memcpy::three_d;
    cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream) => memcpy::three_d_async;
    cuMemcpyHtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize,
    ) => memcpy::host_to_array;
    cuMemcpyAtoH_v2(
        dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) => memcpy::array_to_host;
    cuMemcpyDtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_device: CUdeviceptr, byte_count: usize,
    ) => memcpy::device_to_array;
    cuMemcpyAtoD_v2(
        dst_device: CUdeviceptr, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) => memcpy::array_to_device;
    cuMemcpyAtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_array: CUarray, src_offset: usize,
        byte_count: usize,
    ) => memcpy::array_to_array;

    // Fills
    cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize) => memset::d8;
    cuMemsetD8Async(
        dst_device: CUdeviceptr, uc: c_uchar, n: usize, stream: CUstream,
    ) => memset::d8_async;
    cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize) => memset::d16;
    cuMemsetD16Async(
        dst_device: CUdeviceptr, us: c_ushort, n: usize, stream: CUstream,
    ) => memset::d16_async;
    cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize) => memset::d32;
    cuMemsetD32Async(
        dst_device: CUdeviceptr, ui: c_uint, n: usize, stream: CUstream,
    ) => memset::d32_async;
    cuMemsetD2D8_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize,
    ) => memset::rows_d8;
    cuMemsetD2D8Async(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize,
        stream: CUstream,
    ) => memset::rows_d8_async;
    cuMemsetD2D16_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize,
    ) => memset::rows_d16;
    cuMemsetD2D16Async(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize,
        stream: CUstream,
    ) => memset::rows_d16_async;
    cuMemsetD2D32_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize,
    ) => memset::rows_d32;
    cuMemsetD2D32Async(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize,
        stream: CUstream,
    ) => memset::rows_d32_async;

    // Streams and events
    cuStreamCreate(ph_stream: *mut CUstream, flags: c_uint) => stream::create;
    cuStreamCreateWithPriority(
        ph_stream: *mut CUstream, flags: c_uint, priority: c_int,
    ) => stream::create_with_priority;
    cuStreamDestroy_v2(stream: CUstream) => stream::destroy;
    cuStreamGetFlags(stream: CUstream, flags: *mut c_uint) => stream::flags;
    cuStreamGetPriority(stream: CUstream, priority: *mut c_int) => stream::priority;
    cuStreamQuery(stream: CUstream) => stream::query;
    cuStreamSynchronize(stream: CUstream) => stream::synchronize;
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) => stream::wait_event;
    cuLaunchHostFunc(
        stream: CUstream, fn_: CUhostFn, user_data: *mut c_void,
    ) => stream::host_function;
    cuStreamAddCallback(
        stream: CUstream, callback: CUstreamCallback, user_data: *mut c_void, flags: c_uint,
    ) => stream::callback;
    cuStreamBeginCapture_v2(stream: CUstream, mode: c_int);
    cuStreamEndCapture(stream: CUstream, h_graph: *mut CUgraph);
    cuStreamIsCapturing(stream: CUstream, capture_status: *mut c_int);
    cuEventCreate(h_event: *mut CUevent, flags: c_uint) => event::create;
    cuEventDestroy_v2(event: CUevent) => event::destroy;
    cuEventRecord(event: CUevent, stream: CUstream) => event::record;
    cuEventQuery(event: CUevent) => event::query;
    cuEventSynchronize(event: CUevent) => event::synchronize;
    cuEventElapsedTime(
        milliseconds: *mut f32, start: CUevent, end: CUevent,
    ) => event::elapsed_time;

    // Kernels
    cuLaunchKernel(
        f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint,
        block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint,
        stream: CUstream, kernel_params: *mut *mut c_void, extra: *mut *mut c_void,
    ) => launch::kernel;
    cuLaunchCooperativeKernel(
        f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint,
        block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint,
        stream: CUstream, kernel_params: *mut *mut c_void,
    ) => launch::cooperative_kernel;
    cuFuncGetAttribute(
        value: *mut c_int, attribute: c_int, function: CUfunction,
    ) => function::attribute;
    cuFuncSetAttribute(
        function: CUfunction, attribute: c_int, value: c_int,
    ) => function::set_attribute;
    cuFuncSetCacheConfig(function: CUfunction, config: c_int) => function::set_cache_config;
    cuFuncSetSharedMemConfig(function: CUfunction, config: c_int) => function::set_shared_config;
    cuFuncGetModule(module: *mut CUmodule, function: CUfunction) => function::module;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize,
    ) => occupancy::active_blocks;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize,
        flags: c_uint,
    ) => occupancy::active_blocks_with_flags;
    cuOccupancyMaxPotentialBlockSize(
        min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction,
        block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize,
        block_size_limit: c_int,
    ) => occupancy::potential_block_size;
    cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction,
        block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize,
        block_size_limit: c_int, flags: c_uint,
    ) => occupancy::potential_block_size_with_flags;
    cuOccupancyAvailableDynamicSMemPerBlock(
        dynamic_smem_size: *mut usize, func: CUfunction, num_blocks: c_int, block_size: c_int,
    ) => occupancy::available_dynamic_shared;
    cuProfilerStart();
    cuProfilerStop();

    // Graphs
    cuGraphCreate(h_graph: *mut CUgraph, flags: c_uint);
    cuGraphDestroy(graph: CUgraph);
    cuGraphAddKernelNode(
        h_graph_node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize, node_params: *const CUDA_KERNEL_NODE_PARAMS,
    );
    cuGraphAddMemcpyNode(
        h_graph_node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize, copy_params: *const CUDA_MEMCPY3D, ctx: CUcontext,
    );
    cuGraphAddMemsetNode(
        h_graph_node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize, memset_params: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext,
    );
    cuGraphAddHostNode(
        h_graph_node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize, node_params: *const CUDA_HOST_NODE_PARAMS,
    );
    cuGraphAddEmptyNode(
        h_graph_node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize,
    );
    cuGraphKernelNodeGetParams(node: CUgraphNode, node_params: *mut CUDA_KERNEL_NODE_PARAMS);
    cuGraphKernelNodeSetParams(node: CUgraphNode, node_params: *const CUDA_KERNEL_NODE_PARAMS);
    cuGraphNodeGetType(node: CUgraphNode, kind: *mut c_int);
    cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    cuGraphGetRootNodes(graph: CUgraph, root_nodes: *mut CUgraphNode, num_root_nodes: *mut usize);
    cuGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, num_edges: *mut usize,
    );
    cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);
    cuGraphInstantiate_v2(
        h_graph_exec: *mut CUgraphExec, graph: CUgraph, ph_error_node: *mut CUgraphNode,
        log_buffer: *mut c_char, buffer_size: usize,
    );
    cuGraphInstantiateWithFlags(
        h_graph_exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong,
    );
    cuGraphLaunch(graph_exec: CUgraphExec, stream: CUstream);
    cuGraphExecDestroy(graph_exec: CUgraphExec);

    // Arrays, textures, surfaces and external memory
    cuArrayCreate_v2(handle: *mut CUarray, allocate_array: *const CUDA_ARRAY_DESCRIPTOR) => image::create;
    cuArrayGetDescriptor_v2(array_descriptor: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) => image::descriptor;
    cuArrayDestroy(array: CUarray) => image::destroy;
    cuArray3DCreate_v2(handle: *mut CUarray, allocate_array: *const CUDA_ARRAY3D_DESCRIPTOR) => image::create_3d;
    cuArray3DGetDescriptor_v2(array_descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray) => image::descriptor_3d;
    cuTexObjectCreate(
        tex_object: *mut CUtexObject, res_desc: *const CUDA_RESOURCE_DESC,
        tex_desc: *const CUDA_TEXTURE_DESC, res_view_desc: *const CUDA_RESOURCE_VIEW_DESC,
    ) => image::create_texture;
    cuTexObjectDestroy(tex_object: CUtexObject) => image::destroy_texture;
    cuTexObjectGetResourceDesc(res_desc: *mut CUDA_RESOURCE_DESC, tex_object: CUtexObject) => image::resource_of;
    cuTexObjectGetTextureDesc(tex_desc: *mut CUDA_TEXTURE_DESC, tex_object: CUtexObject) => image::texture_of;
    cuTexObjectGetResourceViewDesc(
        res_view_desc: *mut CUDA_RESOURCE_VIEW_DESC, tex_object: CUtexObject,
    );
    cuSurfObjectCreate(surf_object: *mut CUsurfObject, res_desc: *const CUDA_RESOURCE_DESC) => image::create_surface;
    cuSurfObjectDestroy(surf_object: CUsurfObject) => image::destroy_surface;
    cuSurfObjectGetResourceDesc(res_desc: *mut CUDA_RESOURCE_DESC, surf_object: CUsurfObject) => image::resource_of;
    cuImportExternalMemory(
        ext_mem_out: *mut CUexternalMemory,
        mem_handle_desc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    );
    cuDestroyExternalMemory(ext_mem: CUexternalMemory);
    cuExternalMemoryGetMappedBuffer(
        dev_ptr: *mut CUdeviceptr, ext_mem: CUexternalMemory,
        buffer_desc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    );
}
