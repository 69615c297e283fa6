//! Rows of the driver API's function table: arrays, textures and surfaces; interoperability with graphics and
//! other external interfaces; logs, core dumps and checkpoints.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use super::*;
use crate::api::{context, image, sharing, tensor_map, texture_reference};
use crate::types::external::{BufferDescription, HandleDescription, SemaphoreDescription};
use crate::types::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC, CUarray, CUdevice, CUdeviceptr, CUexternalMemory, CUfunction,
    CUmipmappedArray, CUmodule, CUstream, CUsurfObject, CUsurfref, CUtensorMap, CUtexObject,
    CUtexref, MemoryRequirements, SparseProperties,
};

functions! {
    // Arrays, textures and surfaces
    3020 cuArrayCreate_v2(handle: *mut CUarray, allocate_array: *const CUDA_ARRAY_DESCRIPTOR) [image::create];
    3020 cuArrayGetDescriptor_v2(array_descriptor: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) [image::descriptor];
    2000 cuArrayDestroy(array: CUarray) [image::destroy];
    3020 cuArray3DCreate_v2(handle: *mut CUarray, allocate_array: *const CUDA_ARRAY3D_DESCRIPTOR) [image::create_3d];
    3020 cuArray3DGetDescriptor_v2(
        array_descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray,
    ) [image::descriptor_3d];
    5000 cuTexObjectCreate(
        tex_object: *mut CUtexObject, res_desc: *const CUDA_RESOURCE_DESC, tex_desc: *const
        CUDA_TEXTURE_DESC, res_view_desc: *const CUDA_RESOURCE_VIEW_DESC,
    ) [image::create_texture];
    5000 cuTexObjectDestroy(tex_object: CUtexObject) [image::destroy_texture];
    5000 cuTexObjectGetResourceDesc(res_desc: *mut CUDA_RESOURCE_DESC, tex_object: CUtexObject) [image::resource_of];
    5000 cuTexObjectGetTextureDesc(tex_desc: *mut CUDA_TEXTURE_DESC, tex_object: CUtexObject) [image::texture_of];
    5000 cuTexObjectGetResourceViewDesc(res_view_desc: *mut CUDA_RESOURCE_VIEW_DESC, tex_object: CUtexObject) [image::view_of];
    5000 cuSurfObjectCreate(
        surf_object: *mut CUsurfObject, res_desc: *const CUDA_RESOURCE_DESC,
    ) [image::create_surface];
    5000 cuSurfObjectDestroy(surf_object: CUsurfObject) [image::destroy_surface];
    5000 cuSurfObjectGetResourceDesc(
        res_desc: *mut CUDA_RESOURCE_DESC, surf_object: CUsurfObject,
    ) [image::resource_of];

    // Interoperability
    10000 cuImportExternalMemory(
        memory: *mut CUexternalMemory, description: *const HandleDescription,
    ) [sharing::import_external_memory];
    10000 cuDestroyExternalMemory(memory: CUexternalMemory) [sharing::destroy_memory];
    10000 cuExternalMemoryGetMappedBuffer(
        address: *mut CUdeviceptr, memory: CUexternalMemory, description: *const BufferDescription,
    ) [sharing::mapped_buffer];
    10000 cuImportExternalSemaphore(
        semaphore: *mut *mut c_void, description: *const SemaphoreDescription,
    ) [sharing::import_semaphore];
    10000 cuDestroyExternalSemaphore(semaphore: *mut c_void) [sharing::destroy_semaphore];
    10000 cuSignalExternalSemaphoresAsync(
        semaphores: *const *mut c_void, parameters: *const c_void, count: c_uint, stream: CUstream,
    ) [sharing::use_semaphores] / 10000 cuSignalExternalSemaphoresAsync_ptsz;
    10000 cuWaitExternalSemaphoresAsync(
        semaphores: *const *mut c_void, parameters: *const c_void, count: c_uint, stream: CUstream,
    ) [sharing::use_semaphores] / 10000 cuWaitExternalSemaphoresAsync_ptsz;

    // Mipmapped arrays, and the memory and planes of arrays
    5000 cuMipmappedArrayCreate(
        mipmap: *mut CUmipmappedArray, shape: *const CUDA_ARRAY3D_DESCRIPTOR, levels: c_uint,
    ) [image::create_mipmap];
    5000 cuMipmappedArrayGetLevel(
        level_array: *mut CUarray, mipmap: CUmipmappedArray, level: c_uint,
    ) [image::mipmap_level];
    5000 cuMipmappedArrayDestroy(mipmap: CUmipmappedArray) [image::destroy_mipmap];
    11060 cuArrayGetMemoryRequirements(
        requirements: *mut MemoryRequirements, array: CUarray, device: CUdevice,
    ) [image::requirements];
    11060 cuMipmappedArrayGetMemoryRequirements(
        requirements: *mut MemoryRequirements, mipmap: CUmipmappedArray, device: CUdevice,
    ) [image::mipmap_requirements];
    11010 cuArrayGetSparseProperties(
        properties: *mut SparseProperties, array: CUarray,
    ) [image::sparse_properties];
    11010 cuMipmappedArrayGetSparseProperties(
        properties: *mut SparseProperties, mipmap: CUmipmappedArray,
    ) [image::mipmap_sparse_properties];
    11020 cuArrayGetPlane(plane_array: *mut CUarray, array: CUarray, plane: c_uint) [image::plane];

    // Tensor maps
    12000 cuTensorMapEncodeTiled(
        tensor_map: *mut CUtensorMap, tensor_data_type: c_uint, tensor_rank: c_uint, global_address: *mut c_void,
        global_dim: *const c_ulonglong, global_strides: *const c_ulonglong, box_dim: *const c_uint,
        element_strides: *const c_uint, interleave: c_int, swizzle: c_int, l2_promotion: c_int, oob_fill: c_int,
    ) [tensor_map::encode_tiled];
    12000 cuTensorMapEncodeIm2col(
        tensor_map: *mut CUtensorMap, tensor_data_type: c_uint, tensor_rank: c_uint, global_address: *mut c_void,
        global_dim: *const c_ulonglong, global_strides: *const c_ulonglong, pixel_box_lower_corner: *const c_int,
        pixel_box_upper_corner: *const c_int, channels_per_pixel: c_uint, pixels_per_column: c_uint,
        element_strides: *const c_uint, interleave: c_int, swizzle: c_int, l2_promotion: c_int, oob_fill: c_int,
    ) [tensor_map::encode_im2col];
    12080 cuTensorMapEncodeIm2colWide(
        tensor_map: *mut CUtensorMap, tensor_data_type: c_uint, tensor_rank: c_uint, global_address: *mut c_void,
        global_dim: *const c_ulonglong, global_strides: *const c_ulonglong, pixel_box_lower_corner_width: c_int,
        pixel_box_upper_corner_width: c_int, channels_per_pixel: c_uint, pixels_per_column: c_uint,
        element_strides: *const c_uint, interleave: c_int, mode: c_int, swizzle: c_int, l2_promotion: c_int,
        oob_fill: c_int,
    ) [tensor_map::encode_im2col_wide];
    12000 cuTensorMapReplaceAddress(
        tensor_map: *mut CUtensorMap, global_address: *mut c_void,
    ) [tensor_map::replace_address];

    // Texture and surface references
    2000 cuModuleGetTexRef(
        reference: *mut CUtexref, module: CUmodule, name: *const c_char,
    ) [texture_reference::of_module];
    3000 cuModuleGetSurfRef(
        reference: *mut CUsurfref, module: CUmodule, name: *const c_char,
    ) [texture_reference::surface_of_module];
    2000 cuParamSetTexRef(
        function: CUfunction, unit: c_int, reference: CUtexref,
    ) [texture_reference::set_parameter];
    2000 cuTexRefCreate(reference: *mut CUtexref) [texture_reference::create];
    2000 cuTexRefDestroy(reference: CUtexref) [texture_reference::destroy];
    3020 cuTexRefSetAddress_v2(
        offset: *mut usize, reference: CUtexref, address: CUdeviceptr, bytes: usize,
    ) [texture_reference::set_address];
    3020 cuTexRefSetAddress2D_v2(
        reference: CUtexref, shape: *const CUDA_ARRAY_DESCRIPTOR, address: CUdeviceptr, pitch: usize,
    ) [texture_reference::set_address_2d];
    4010 cuTexRefSetAddress2D_v3(
        reference: CUtexref, shape: *const CUDA_ARRAY_DESCRIPTOR, address: CUdeviceptr, pitch: usize,
    ) [texture_reference::set_address_2d];
    2000 cuTexRefSetArray(
        reference: CUtexref, array: CUarray, flags: c_uint,
    ) [texture_reference::set_array];
    5000 cuTexRefSetMipmappedArray(
        reference: CUtexref, mipmap: CUmipmappedArray, flags: c_uint,
    ) [texture_reference::set_mipmapped_array];
    2000 cuTexRefSetFormat(
        reference: CUtexref, format: c_int, channels: c_int,
    ) [texture_reference::set_format];
    2000 cuTexRefSetAddressMode(
        reference: CUtexref, dimension: c_int, mode: c_int,
    ) [texture_reference::set_address_mode];
    2000 cuTexRefSetFilterMode(reference: CUtexref, filter: c_int) [texture_reference::set_filter];
    5000 cuTexRefSetMipmapFilterMode(
        reference: CUtexref, filter: c_int,
    ) [texture_reference::set_level_filter];
    5000 cuTexRefSetMipmapLevelBias(
        reference: CUtexref, bias: f32,
    ) [texture_reference::set_level_bias];
    5000 cuTexRefSetMipmapLevelClamp(
        reference: CUtexref, low: f32, high: f32,
    ) [texture_reference::set_level_clamp];
    5000 cuTexRefSetMaxAnisotropy(
        reference: CUtexref, anisotropy: c_uint,
    ) [texture_reference::set_max_anisotropy];
    8000 cuTexRefSetBorderColor(
        reference: CUtexref, colour: *mut f32,
    ) [texture_reference::set_border];
    2000 cuTexRefSetFlags(reference: CUtexref, flags: c_uint) [texture_reference::set_flags];
    3020 cuTexRefGetAddress_v2(
        address: *mut CUdeviceptr, reference: CUtexref,
    ) [texture_reference::address];
    2000 cuTexRefGetArray(array: *mut CUarray, reference: CUtexref) [texture_reference::array];
    5000 cuTexRefGetMipmappedArray(
        mipmap: *mut CUmipmappedArray, reference: CUtexref,
    ) [texture_reference::mipmapped_array];
    2000 cuTexRefGetFormat(
        format: *mut c_int, channels: *mut c_int, reference: CUtexref,
    ) [texture_reference::format];
    2000 cuTexRefGetAddressMode(
        mode: *mut c_int, reference: CUtexref, dimension: c_int,
    ) [texture_reference::address_mode];
    2000 cuTexRefGetFilterMode(filter: *mut c_int, reference: CUtexref) [texture_reference::filter];
    5000 cuTexRefGetMipmapFilterMode(
        filter: *mut c_int, reference: CUtexref,
    ) [texture_reference::level_filter];
    5000 cuTexRefGetMipmapLevelBias(
        bias: *mut f32, reference: CUtexref,
    ) [texture_reference::level_bias];
    5000 cuTexRefGetMipmapLevelClamp(
        low: *mut f32, high: *mut f32, reference: CUtexref,
    ) [texture_reference::level_clamp];
    5000 cuTexRefGetMaxAnisotropy(
        anisotropy: *mut c_int, reference: CUtexref,
    ) [texture_reference::max_anisotropy];
    8000 cuTexRefGetBorderColor(colour: *mut f32, reference: CUtexref) [texture_reference::border];
    2000 cuTexRefGetFlags(flags: *mut c_uint, reference: CUtexref) [texture_reference::flags];
    3000 cuSurfRefSetArray(
        reference: CUsurfref, array: CUarray, flags: c_uint,
    ) [texture_reference::set_surface_array];
    3000 cuSurfRefGetArray(
        array: *mut CUarray, reference: CUsurfref,
    ) [texture_reference::surface_array];

    // Core dumps
    12010 cuCoredumpGetAttribute(
        attribute: c_int, value: *mut c_void, size: *mut usize,
    ) [context::attribute];
    12010 cuCoredumpGetAttributeGlobal(
        attribute: c_int, value: *mut c_void, size: *mut usize,
    ) [context::global_attribute];
    12010 cuCoredumpSetAttribute(
        attribute: c_int, value: *mut c_void, size: *mut usize,
    ) [context::set_attribute];
    12010 cuCoredumpSetAttributeGlobal(
        attribute: c_int, value: *mut c_void, size: *mut usize,
    ) [context::set_global_attribute];

    unsupported {
        2000 cuArray3DCreate, 2000 cuArray3DGetDescriptor, 2000 cuArrayCreate, 2000 cuArrayGetDescriptor,
        2000 cuTexRefGetAddress, 2000 cuTexRefSetAddress, 2020 cuTexRefSetAddress2D,
        12080 cuCheckpointProcessCheckpoint, 12080 cuCheckpointProcessGetRestoreThreadId,
        12080 cuCheckpointProcessGetState, 12080 cuCheckpointProcessLock, 12080 cuCheckpointProcessRestore,
        12080 cuCheckpointProcessUnlock,
        7000 cuEGLStreamConsumerAcquireFrame, 7000 cuEGLStreamConsumerConnect,
        8000 cuEGLStreamConsumerConnectWithFlags, 7000 cuEGLStreamConsumerDisconnect,
        7000 cuEGLStreamConsumerReleaseFrame, 7000 cuEGLStreamProducerConnect,
        7000 cuEGLStreamProducerDisconnect, 7000 cuEGLStreamProducerPresentFrame,
        7000 cuEGLStreamProducerReturnFrame, 10000 cuExternalMemoryGetMappedMipmappedArray,
        2000 cuGLCtxCreate, 3020 cuGLCtxCreate_v2, 4010 cuGLGetDevices, 6050 cuGLGetDevices_v2, 2000 cuGLInit,
        2000 cuGLMapBufferObject, 2030 cuGLMapBufferObjectAsync,
        3020 cuGLMapBufferObjectAsync_v2 / 7000 cuGLMapBufferObjectAsync_v2_ptsz,
        3020 cuGLMapBufferObject_v2 / 7000 cuGLMapBufferObject_v2_ptds, 2000 cuGLRegisterBufferObject,
        2030 cuGLSetBufferObjectMapFlags, 2000 cuGLUnmapBufferObject, 2030 cuGLUnmapBufferObjectAsync,
        2000 cuGLUnregisterBufferObject, 7000 cuGraphicsEGLRegisterImage, 3000 cuGraphicsGLRegisterBuffer,
        3000 cuGraphicsGLRegisterImage, 3000 cuGraphicsMapResources / 7000 cuGraphicsMapResources_ptsz,
        7000 cuGraphicsResourceGetMappedEglFrame, 5000 cuGraphicsResourceGetMappedMipmappedArray,
        3000 cuGraphicsResourceGetMappedPointer, 3020 cuGraphicsResourceGetMappedPointer_v2,
        3000 cuGraphicsResourceSetMapFlags, 6050 cuGraphicsResourceSetMapFlags_v2,
        3000 cuGraphicsSubResourceGetMappedArray,
        3000 cuGraphicsUnmapResources / 7000 cuGraphicsUnmapResources_ptsz, 3000 cuGraphicsUnregisterResource,
        3010 cuGraphicsVDPAURegisterOutputSurface, 3010 cuGraphicsVDPAURegisterVideoSurface,
        12090 cuLogsCurrent, 12090 cuLogsDumpToFile,
        12090 cuLogsDumpToMemory, 12090 cuLogsRegisterCallback, 12090 cuLogsUnregisterCallback,
        3010 cuVDPAUCtxCreate, 3020 cuVDPAUCtxCreate_v2, 3010 cuVDPAUGetDevice, 2020 cuWGLGetDevice,
    }
}
