//! Memory allocation, memory pools, fills (`cudaMemset…`), and queries about pointers.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::{
    CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream, ShareableHandle,
};

use crate::context::{self, context, device};
use crate::errors::{Error, Result, check};
use crate::functions::{Out, driver_stream, free_unless};
use crate::types::{Extent, PitchedPtr, PointerAttributes};

functions! {
    // Allocation
    cudaMalloc(to: *mut *mut c_void, bytes: usize) -> to = allocate(bytes);
    cudaFree(ptr: *mut c_void)
        = free_unless(ptr.is_null(), || cu::cuMemFree_v2(address(ptr))), unsafe;
    cudaMallocPitch(to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize)
        => allocate_pitched;
    cudaMalloc3D(to: *mut PitchedPtr, extent: Extent) -> to = allocate_3d(extent);
    cudaMallocHost(to: *mut *mut c_void, bytes: usize) -> to = allocate_host(bytes, 0);
    cudaHostAlloc(to: *mut *mut c_void, bytes: usize, flags: c_uint)
        -> to = allocate_host(bytes, flags);
    cudaFreeHost(ptr: *mut c_void)
        = free_unless(ptr.is_null(), || cu::cuMemFreeHost(ptr)), unsafe;
    cudaHostRegister(ptr: *mut c_void, bytes: usize, flags: c_uint) => cuMemHostRegister_v2(..);
    cudaHostUnregister(ptr: *mut c_void) => cuMemHostUnregister(..);
    cudaHostGetDevicePointer(to: *mut *mut c_void, host: *mut c_void, flags: c_uint)
        -> to = host_device_pointer(host, flags);
    cudaHostGetFlags(flags: *mut c_uint, host: *mut c_void) -> flags = host_flags(host);
    cudaMallocManaged(to: *mut *mut c_void, bytes: usize, flags: c_uint)
        -> to = allocate_managed(bytes, flags);
    cudaMemPrefetchAsync(
        ptr: *const c_void, bytes: usize, device: c_int, stream: CUstream,
    ) | cudaMemPrefetchAsync_ptsz
        => cuMemPrefetchAsync(address(ptr), bytes, location(device)?, driver_stream(stream));
    cudaMemAdvise(ptr: *const c_void, bytes: usize, advice: c_int, device: c_int)
        => cuMemAdvise(address(ptr), bytes, advice, location(device)?);
    cudaStreamAttachMemAsync(
        stream: CUstream, ptr: *mut c_void, bytes: usize, flags: c_uint,
    ) | cudaStreamAttachMemAsync_ptsz => attach_to_stream;
    cudaMemGetInfo(free: *mut usize, total: *mut usize) => cuMemGetInfo_v2(..);
    cudaPointerGetAttributes(attributes: *mut PointerAttributes, of: *const c_void)
        -> attributes = pointer_attributes(of);

    // Stream-ordered allocation and memory pools
    cudaMallocAsync(
        to: *mut *mut c_void, bytes: usize, stream: CUstream,
    ) | cudaMallocAsync_ptsz -> to = allocate_async(bytes, stream);
    cudaFreeAsync(ptr: *mut c_void, stream: CUstream) | cudaFreeAsync_ptsz => free_async;
    cudaMallocFromPoolAsync(
        to: *mut *mut c_void, bytes: usize, pool: CUmemoryPool, stream: CUstream,
    ) | cudaMallocFromPoolAsync_ptsz -> to = allocate_from_pool(bytes, pool, stream);
    cudaDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: c_int)
        => cuDeviceGetDefaultMemPool(pool, context::device(device)?.handle), no_context;
    cudaDeviceGetMemPool(pool: *mut CUmemoryPool, device: c_int)
        => cuDeviceGetMemPool(pool, context::device(device)?.handle), no_context;
    cudaDeviceSetMemPool(device: c_int, pool: CUmemoryPool)
        => cuDeviceSetMemPool(context::device(device)?.handle, pool), no_context;
    cudaMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps)
        => cuMemPoolCreate(..);
    cudaMemPoolDestroy(pool: CUmemoryPool) => cuMemPoolDestroy(..);
    cudaMemPoolTrimTo(pool: CUmemoryPool, keep: usize) => cuMemPoolTrimTo(..);
    cudaMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void)
        => cuMemPoolSetAttribute(..);
    cudaMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void)
        => cuMemPoolGetAttribute(..);
    cudaMemPoolSetAccess(pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize)
        => cuMemPoolSetAccess(..);
    cudaMemPoolGetAccess(flags: *mut c_int, pool: CUmemoryPool, ptr: *mut CUmemLocation)
        => cuMemPoolGetAccess(..);

    // Fills
    cudaMemset(ptr: *mut c_void, value: c_int, bytes: usize) | cudaMemset_ptds
        => cuMemsetD8Async(address(ptr), value as u8, bytes, driver_stream(null_mut()));
    cudaMemsetAsync(
        ptr: *mut c_void, value: c_int, bytes: usize, stream: CUstream,
    ) | cudaMemsetAsync_ptsz
        => cuMemsetD8Async(address(ptr), value as u8, bytes, driver_stream(stream));
    cudaMemset2D(
        ptr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize,
    ) | cudaMemset2D_ptds
        => cuMemsetD2D8Async(
            address(ptr), pitch, value as u8, width, height, driver_stream(null_mut()),
        );
    cudaMemset2DAsync(
        ptr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize,
        stream: CUstream,
    ) | cudaMemset2DAsync_ptsz
        => cuMemsetD2D8Async(
            address(ptr), pitch, value as u8, width, height, driver_stream(stream),
        );
    cudaMemset3D(ptr: PitchedPtr, value: c_int, extent: Extent) | cudaMemset3D_ptds
        = memset_3d(ptr, value, extent, null_mut()), unsafe;
    cudaMemset3DAsync(
        ptr: PitchedPtr, value: c_int, extent: Extent, stream: CUstream,
    ) | cudaMemset3DAsync_ptsz => memset_3d;

    // Memory shared with other processes
    cudaIpcGetMemHandle(handle: *mut ShareableHandle, ptr: *mut c_void)
        => cuIpcGetMemHandle(handle, address(ptr));
    cudaIpcOpenMemHandle(ptr: *mut *mut c_void, handle: ShareableHandle, flags: c_uint)
        => cuIpcOpenMemHandle_v2(ptr.cast(), handle, flags);
    cudaIpcCloseMemHandle(ptr: *mut c_void) => cuIpcCloseMemHandle(address(ptr));
    cudaMemPoolExportToShareableHandle(
        handle: *mut c_void, pool: CUmemoryPool, kind: c_int, flags: c_uint,
    ) => cuMemPoolExportToShareableHandle(handle, pool, kind, flags.into());
    cudaMemPoolImportFromShareableHandle(
        pool: *mut CUmemoryPool, handle: *mut c_void, kind: c_int, flags: c_uint,
    ) => cuMemPoolImportFromShareableHandle(pool, handle, kind, flags.into());
    cudaMemPoolExportPointer(data: *mut ShareableHandle, ptr: *mut c_void)
        => cuMemPoolExportPointer(data, address(ptr));
    cudaMemPoolImportPointer(
        ptr: *mut *mut c_void, pool: CUmemoryPool, data: *mut ShareableHandle,
    ) => cuMemPoolImportPointer(ptr.cast(), pool, data);

    // Queries about managed memory, and graphics interoperability
    cudaMemRangeGetAttribute(
        to: *mut c_void, bytes: usize, attribute: c_int, ptr: *const c_void, count: usize,
    );
    cudaGraphicsUnregisterResource(resource: *mut c_void);
    cudaGraphicsMapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsUnmapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsResourceGetMappedPointer(
        to: *mut *mut c_void, bytes: *mut usize, resource: *mut c_void,
    );
}

/// `cudaMemoryType` of unregistered host memory and of managed memory. The other values, 1 for host and 2 for
/// device memory, are the driver's.
const UNREGISTERED: c_int = 0;
const MANAGED: c_int = 3;

/// `cudaCpuDeviceId`: the host, where a function takes a device.
const CPU: c_int = -1;

/// Converts a device address to a pointer as C uses it.
pub(crate) fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Converts a pointer to a device address.
pub(crate) fn address(pointer: *const c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// `cudaMalloc`. Allocating zero bytes succeeds and returns null.
fn allocate(bytes: usize) -> Result<*mut c_void> {
    context()?;
    let mut address = 0;
    if bytes > 0 {
        // SAFETY: `address` is writable.
        check(unsafe { cu::cuMemAlloc_v2(&mut address, bytes) })?;
    }
    Ok(pointer(address))
}

/// `cudaMallocPitch`.
unsafe fn allocate_pitched(
    to: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Result {
    // SAFETY: `cudaMallocPitch` requires `to` and `pitch` to be null or writable.
    let (to, pitch) = unsafe { (Out::new(to)?, Out::new(pitch)?) };
    context()?;
    let (start, row_pitch) = allocate_rows(width, height)?;
    to.set(start);
    pitch.set(row_pitch);
    Ok(())
}

/// `cudaMalloc3D`.
fn allocate_3d(extent: Extent) -> Result<PitchedPtr> {
    context()?;
    let rows = extent.height.checked_mul(extent.depth);
    let (ptr, pitch) = allocate_rows(extent.width, rows.ok_or(Error::INVALID_VALUE)?)?;
    Ok(PitchedPtr {
        ptr,
        pitch,
        xsize: extent.width,
        ysize: extent.height,
    })
}

/// Allocates `height` rows of at least `width` bytes. Returns the address and the pitch.
fn allocate_rows(width: usize, height: usize) -> Result<(*mut c_void, usize)> {
    /// The largest access of one instruction in bytes, which the driver uses to align rows.
    const ELEMENT: c_uint = 16;
    if width == 0 || height == 0 {
        return Ok((null_mut(), 0));
    }
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: `address` and `pitch` are writable.
    let result =
        unsafe { cu::cuMemAllocPitch_v2(&mut address, &mut pitch, width, height, ELEMENT) };
    check(result)?;
    Ok((pointer(address), pitch))
}

/// `cudaHostAlloc`.
fn allocate_host(bytes: usize, flags: c_uint) -> Result<*mut c_void> {
    context()?;
    let mut host_ptr = null_mut();
    if bytes > 0 {
        // SAFETY: `host_ptr` is writable.
        check(unsafe { cu::cuMemHostAlloc(&mut host_ptr, bytes, flags) })?;
    }
    Ok(host_ptr)
}

/// `cudaHostGetDevicePointer`.
fn host_device_pointer(host: *mut c_void, flags: c_uint) -> Result<*mut c_void> {
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable; the driver rejects a pointer that it did not allocate or register.
    check(unsafe { cu::cuMemHostGetDevicePointer_v2(&mut device_ptr, host, flags) })?;
    Ok(pointer(device_ptr))
}

/// `cudaHostGetFlags`.
fn host_flags(host: *mut c_void) -> Result<c_uint> {
    context()?;
    let mut flags = 0;
    // SAFETY: `flags` is writable; the driver rejects a pointer that it did not allocate or register.
    check(unsafe { cu::cuMemHostGetFlags(&mut flags, host) })?;
    Ok(flags)
}

/// `cudaMallocManaged`.
fn allocate_managed(bytes: usize, flags: c_uint) -> Result<*mut c_void> {
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable.
    check(unsafe { cu::cuMemAllocManaged(&mut device_ptr, bytes, flags) })?;
    Ok(pointer(device_ptr))
}

/// Converts a device's ordinal, or `cudaCpuDeviceId`, to the driver's number.
fn location(number: c_int) -> Result<c_int> {
    match number {
        CPU => Ok(CPU),
        number => Ok(device(number)?.handle),
    }
}

/// `cudaStreamAttachMemAsync`: restricts managed memory to a stream. Only validates its arguments, because
/// host and GPU may access managed memory concurrently here.
unsafe fn attach_to_stream(
    stream: CUstream,
    ptr: *mut c_void,
    _bytes: usize,
    flags: c_uint,
) -> Result {
    /// `cudaMemAttachGlobal`, `cudaMemAttachHost` and `cudaMemAttachSingle`.
    const ATTACH: [c_uint; 3] = [1, 2, 4];
    let mut priority = 0;
    context()?;
    // SAFETY: `priority` is writable; the call only checks that the stream exists.
    check(unsafe { cu::cuStreamGetPriority(driver_stream(stream), &mut priority) })?;
    if !ATTACH.contains(&flags) || pointer_attributes(ptr)?.kind != MANAGED {
        return Err(Error::INVALID_VALUE);
    }
    Ok(())
}

/// `cudaMallocAsync`.
fn allocate_async(bytes: usize, stream: CUstream) -> Result<*mut c_void> {
    context()?;
    let mut value = 0;
    if bytes > 0 {
        // SAFETY: `value` is writable.
        check(unsafe { cu::cuMemAllocAsync(&mut value, bytes, driver_stream(stream)) })?;
    }
    Ok(pointer(value))
}

/// `cudaMallocFromPoolAsync`.
fn allocate_from_pool(bytes: usize, pool: CUmemoryPool, stream: CUstream) -> Result<*mut c_void> {
    context()?;
    let mut value = 0;
    if bytes > 0 {
        // SAFETY: `value` is writable; the driver validates `pool`.
        check(unsafe {
            cu::cuMemAllocFromPoolAsync(&mut value, bytes, pool, driver_stream(stream))
        })?;
    }
    Ok(pointer(value))
}

/// `cudaFreeAsync`.
unsafe fn free_async(ptr: *mut c_void, stream: CUstream) -> Result {
    context()?;
    if ptr.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the driver rejects an address that it did not allocate.
    check(unsafe { cu::cuMemFreeAsync(address(ptr), driver_stream(stream)) })
}

/// Returns a pointer's attributes. A pointer unknown to the driver is unregistered host memory.
fn pointer_attributes(ptr: *const c_void) -> Result<PointerAttributes> {
    context()?;
    /// Numbers of `CUpointer_attribute`.
    const MEMORY_TYPE: c_int = 2;
    const DEVICE_POINTER: c_int = 3;
    const HOST_POINTER: c_int = 4;
    const IS_MANAGED: c_int = 8;
    const DEVICE_ORDINAL: c_int = 9;
    let address = address(ptr);
    let mut kind: c_uint = 0;
    let mut managed: c_uint = 0;
    let mut device: c_int = 0;
    let (mut on_device, mut on_host) = (0_u64, 0_u64);
    let query = |attribute, to: *mut c_void| {
        // SAFETY: each call below passes a variable of the attribute's type as `to`.
        unsafe { cu::cuPointerGetAttribute(to, attribute, address) == 0 }
    };
    if !query(MEMORY_TYPE, (&raw mut kind).cast()) {
        return Ok(PointerAttributes {
            kind: UNREGISTERED,
            device: -2,
            device_pointer: null_mut(),
            host_pointer: ptr.cast_mut(),
        });
    }
    query(IS_MANAGED, (&raw mut managed).cast());
    query(DEVICE_ORDINAL, (&raw mut device).cast());
    query(DEVICE_POINTER, (&raw mut on_device).cast());
    query(HOST_POINTER, (&raw mut on_host).cast());
    Ok(PointerAttributes {
        kind: if managed == 0 { kind as c_int } else { MANAGED },
        device,
        device_pointer: pointer(on_device),
        host_pointer: pointer(on_host),
    })
}

/// `cudaMemset3DAsync`. A layer consists of `ysize` rows, of which `height` are filled.
unsafe fn memset_3d(dst: PitchedPtr, value: c_int, extent: Extent, stream: CUstream) -> Result {
    let layer = dst
        .pitch
        .checked_mul(dst.ysize)
        .ok_or(Error::INVALID_VALUE)?;
    if extent.width > dst.pitch || extent.height > dst.ysize {
        return Err(Error::INVALID_VALUE);
    }
    for z in 0..extent.depth {
        let start = dst.ptr.wrapping_byte_add(z.wrapping_mul(layer));
        context()?;
        // SAFETY: `start` is layer `z`, which lies within the allocation of `dst`.
        check(unsafe {
            cu::cuMemsetD2D8Async(
                address(start),
                dst.pitch,
                value as u8,
                extent.width,
                extent.height,
                driver_stream(stream),
            )
        })?;
    }
    Ok(())
}
