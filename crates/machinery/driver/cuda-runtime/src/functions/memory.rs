//! Lines of the runtime API's function table: allocation, fills, arrays, textures and surfaces.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUarray, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream};

use super::entry::Entry;
use crate::last_error::call;
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{
    ChannelFormat, Extent, PitchedPtr, PointerAttributes, ResourceDesc, ResourceViewDesc,
    TextureDesc,
};
use crate::{arrays, memory, pools, symbols, textures};

functions! {
    // Allocation
    cudaMalloc(to: *mut *mut c_void, bytes: usize) => memory::allocate;
    cudaFree(ptr: *mut c_void) => memory::free;
    cudaMallocPitch(
        to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize,
    ) => memory::allocate_pitched;
    cudaMalloc3D(to: *mut PitchedPtr, extent: Extent) => memory::allocate_3d;
    cudaMallocHost(to: *mut *mut c_void, bytes: usize) => memory::allocate_host;
    cudaHostAlloc(
        to: *mut *mut c_void, bytes: usize, flags: c_uint,
    ) => memory::allocate_host_with_flags;
    cudaFreeHost(ptr: *mut c_void) => memory::free_host;
    cudaHostRegister(ptr: *mut c_void, bytes: usize, flags: c_uint) => memory::register_host;
    cudaHostUnregister(ptr: *mut c_void) => memory::unregister_host;
    cudaHostGetDevicePointer(
        to: *mut *mut c_void, host: *mut c_void, flags: c_uint,
    ) => memory::host_device_pointer;
    cudaHostGetFlags(flags: *mut c_uint, host: *mut c_void) => memory::host_flags;
    cudaMallocManaged(
        to: *mut *mut c_void, bytes: usize, flags: c_uint,
    ) => memory::allocate_managed;
    cudaMemPrefetchAsync(
        ptr: *const c_void, bytes: usize, device: c_int, stream: CUstream,
    ) | cudaMemPrefetchAsync_ptsz => memory::prefetch;
    cudaMemAdvise(
        ptr: *const c_void, bytes: usize, advice: c_int, device: c_int,
    ) => memory::advise;
    cudaStreamAttachMemAsync(
        stream: CUstream, ptr: *mut c_void, bytes: usize, flags: c_uint,
    ) | cudaStreamAttachMemAsync_ptsz => memory::attach_to_stream;
    cudaMallocAsync(
        to: *mut *mut c_void, bytes: usize, stream: CUstream,
    ) | cudaMallocAsync_ptsz => pools::allocate;
    cudaFreeAsync(ptr: *mut c_void, stream: CUstream) | cudaFreeAsync_ptsz => pools::free;
    cudaMallocFromPoolAsync(
        to: *mut *mut c_void, bytes: usize, pool: CUmemoryPool, stream: CUstream,
    ) | cudaMallocFromPoolAsync_ptsz => pools::allocate_from;
    cudaDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: c_int) => pools::default;
    cudaDeviceGetMemPool(pool: *mut CUmemoryPool, device: c_int) => pools::get;
    cudaDeviceSetMemPool(device: c_int, pool: CUmemoryPool) => pools::set;
    cudaMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) => pools::create;
    cudaMemPoolDestroy(pool: CUmemoryPool) => pools::destroy;
    cudaMemPoolTrimTo(pool: CUmemoryPool, keep: usize) => pools::trim;
    cudaMemPoolSetAttribute(
        pool: CUmemoryPool, attribute: c_int, value: *mut c_void,
    ) => pools::set_attribute;
    cudaMemPoolGetAttribute(
        pool: CUmemoryPool, attribute: c_int, value: *mut c_void,
    ) => pools::attribute;
    cudaMemPoolSetAccess(
        pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize,
    ) => pools::set_access;
    cudaMemPoolGetAccess(
        flags: *mut c_int, pool: CUmemoryPool, ptr: *mut CUmemLocation,
    ) => pools::access;
    cudaMemGetInfo(free: *mut usize, total: *mut usize) => memory::info;
    cudaPointerGetAttributes(
        attributes: *mut PointerAttributes, of: *const c_void,
    ) => memory::attributes;
    cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void) => symbols::address;
    cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) => symbols::size;

    // Fills
    cudaMemset(ptr: *mut c_void, value: c_int, bytes: usize) | cudaMemset_ptds => memory::memset;
    cudaMemsetAsync(
        ptr: *mut c_void, value: c_int, bytes: usize, stream: CUstream,
    ) | cudaMemsetAsync_ptsz => memory::memset_async;
    cudaMemset2D(
        ptr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize,
    ) | cudaMemset2D_ptds => memory::memset_2d;
    cudaMemset2DAsync(
        ptr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: CUstream,
    ) | cudaMemset2DAsync_ptsz => memory::memset_2d_async;
    cudaMemset3D(
        ptr: PitchedPtr, value: c_int, extent: Extent,
    ) | cudaMemset3D_ptds => memory::memset_3d;
    cudaMemset3DAsync(
        ptr: PitchedPtr, value: c_int, extent: Extent, stream: CUstream,
    ) | cudaMemset3DAsync_ptsz => memory::memset_3d_async;

    // Arrays, textures and surfaces
    cudaMallocArray(
        to: *mut CUarray, format: *const ChannelFormat, width: usize, height: usize, flags: c_uint,
    ) => arrays::allocate;
    cudaMalloc3DArray(
        to: *mut CUarray, format: *const ChannelFormat, extent: Extent, flags: c_uint,
    ) => arrays::allocate_3d;
    cudaFreeArray(array: CUarray) => arrays::free;
    cudaArrayGetInfo(
        format: *mut ChannelFormat, extent: *mut Extent, flags: *mut c_uint, array: CUarray,
    ) => arrays::info;
    cudaGetChannelDesc(format: *mut ChannelFormat, array: CUarray) => arrays::channel_format;
    cudaCreateTextureObject(
        to: *mut u64, resource: *const ResourceDesc, desc: *const TextureDesc,
        view: *const ResourceViewDesc,
    ) => textures::create_texture;
    cudaDestroyTextureObject(texture: u64) => textures::destroy_texture;
    cudaGetTextureObjectResourceDesc(
        to: *mut ResourceDesc, texture: u64,
    ) => textures::texture_resource_desc;
    cudaGetTextureObjectTextureDesc(
        to: *mut TextureDesc, texture: u64,
    ) => textures::texture_desc;
    cudaCreateSurfaceObject(to: *mut u64, resource: *const ResourceDesc) => textures::create_surface;
    cudaDestroySurfaceObject(surface: u64) => textures::destroy_surface;
    cudaGetSurfaceObjectResourceDesc(
        to: *mut ResourceDesc, surface: u64,
    ) => textures::surface_resource_desc;
}
