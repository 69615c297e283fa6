//! Memory allocation, fills (`cudaMemset…`), and queries about pointers.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cust_raw::CUstream;

use crate::arguments::Out;
use crate::context::{context, device};
use crate::status::{Error, Result, check};
use crate::stream::driver_stream;
use crate::types::{Extent, PitchedPtr, PointerAttributes};

/// `cudaMemoryType` of unregistered host memory and of managed memory. The other values, 1 for host and 2 for
/// device memory, are the driver's.
const UNREGISTERED: c_int = 0;
const MANAGED: c_int = 3;

/// `cudaCpuDeviceId`: the host, where a function takes a device.
const CPU: c_int = -1;

/// Converts a device address to a pointer as C uses it.
pub fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Converts a pointer to a device address.
pub fn address(pointer: *const c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// `cudaMalloc`. Allocating zero bytes succeeds and returns null.
pub unsafe fn allocate(to: *mut *mut c_void, bytes: usize) -> Result {
    // SAFETY: `cudaMalloc` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut address = 0;
    if bytes > 0 {
        // SAFETY: `address` is writable.
        check(unsafe { cu::cuMemAlloc_v2(&mut address, bytes) })?;
    }
    to.set(pointer(address));
    Ok(())
}

/// `cudaFree`. Freeing null only initializes the device, which programs rely on.
pub unsafe fn free(ptr: *mut c_void) -> Result {
    context()?;
    if ptr.is_null() {
        return Ok(());
    }
    // SAFETY: the driver rejects an address that it did not allocate.
    check(unsafe { cu::cuMemFree_v2(address(ptr)) })
}

/// `cudaMallocPitch`.
pub unsafe fn allocate_pitched(
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
pub unsafe fn allocate_3d(to: *mut PitchedPtr, extent: Extent) -> Result {
    // SAFETY: `cudaMalloc3D` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let rows = extent.height.checked_mul(extent.depth);
    let (ptr, pitch) = allocate_rows(extent.width, rows.ok_or(Error::INVALID_VALUE)?)?;
    to.set(PitchedPtr {
        ptr,
        pitch,
        xsize: extent.width,
        ysize: extent.height,
    });
    Ok(())
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

/// `cudaMallocHost`.
pub unsafe fn allocate_host(to: *mut *mut c_void, bytes: usize) -> Result {
    // SAFETY: `cudaMallocHost` has the same requirements for `to` as `allocate_host_with_flags`.
    unsafe { allocate_host_with_flags(to, bytes, 0) }
}

/// `cudaHostAlloc`.
pub unsafe fn allocate_host_with_flags(
    to: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result {
    // SAFETY: `cudaHostAlloc` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut host_ptr = null_mut();
    if bytes > 0 {
        // SAFETY: `host_ptr` is writable.
        check(unsafe { cu::cuMemHostAlloc(&mut host_ptr, bytes, flags) })?;
    }
    to.set(host_ptr);
    Ok(())
}

/// `cudaFreeHost`.
pub unsafe fn free_host(ptr: *mut c_void) -> Result {
    context()?;
    if ptr.is_null() {
        return Ok(());
    }
    // SAFETY: the driver rejects a pointer that it did not allocate.
    check(unsafe { cu::cuMemFreeHost(ptr) })
}

/// `cudaHostRegister`.
pub unsafe fn register_host(ptr: *mut c_void, bytes: usize, flags: c_uint) -> Result {
    context()?;
    // SAFETY: `cudaHostRegister` has the same requirements for `ptr` as `cuMemHostRegister_v2`.
    check(unsafe { cu::cuMemHostRegister_v2(ptr, bytes, flags) })
}

/// `cudaHostUnregister`.
pub unsafe fn unregister_host(ptr: *mut c_void) -> Result {
    context()?;
    // SAFETY: the driver rejects a pointer that is not registered.
    check(unsafe { cu::cuMemHostUnregister(ptr) })
}

/// `cudaHostGetDevicePointer`.
pub unsafe fn host_device_pointer(
    to: *mut *mut c_void,
    host: *mut c_void,
    flags: c_uint,
) -> Result {
    // SAFETY: `cudaHostGetDevicePointer` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable; the driver rejects a pointer that it did not allocate or register.
    check(unsafe { cu::cuMemHostGetDevicePointer_v2(&mut device_ptr, host, flags) })?;
    to.set(pointer(device_ptr));
    Ok(())
}

/// `cudaHostGetFlags`.
pub unsafe fn host_flags(to: *mut c_uint, host: *mut c_void) -> Result {
    // SAFETY: `cudaHostGetFlags` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut flags = 0;
    // SAFETY: `flags` is writable; the driver rejects a pointer that it did not allocate or register.
    check(unsafe { cu::cuMemHostGetFlags(&mut flags, host) })?;
    to.set(flags);
    Ok(())
}

/// `cudaMallocManaged`.
pub unsafe fn allocate_managed(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> Result {
    // SAFETY: `cudaMallocManaged` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable.
    check(unsafe { cu::cuMemAllocManaged(&mut device_ptr, bytes, flags) })?;
    to.set(pointer(device_ptr));
    Ok(())
}

/// `cudaMemPrefetchAsync`.
pub unsafe fn prefetch(ptr: *const c_void, bytes: usize, to: c_int, stream: CUstream) -> Result {
    context()?;
    // SAFETY: `cudaMemPrefetchAsync` has the same requirements for `ptr` as `cuMemPrefetchAsync`.
    check(unsafe {
        cu::cuMemPrefetchAsync(address(ptr), bytes, location(to)?, driver_stream(stream))
    })
}

/// `cudaMemAdvise`.
pub unsafe fn advise(ptr: *const c_void, bytes: usize, advice: c_int, to: c_int) -> Result {
    context()?;
    // SAFETY: `cudaMemAdvise` has the same requirements for `ptr` as `cuMemAdvise`.
    check(unsafe { cu::cuMemAdvise(address(ptr), bytes, advice, location(to)?) })
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
pub unsafe fn attach_to_stream(
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

/// `cudaMemGetInfo`.
pub unsafe fn info(free: *mut usize, total: *mut usize) -> Result {
    context()?;
    // SAFETY: `cudaMemGetInfo` has the same requirements for `free` and `total` as `cuMemGetInfo_v2`.
    check(unsafe { cu::cuMemGetInfo_v2(free, total) })
}

/// `cudaPointerGetAttributes`.
pub unsafe fn attributes(to: *mut PointerAttributes, ptr: *const c_void) -> Result {
    // SAFETY: `cudaPointerGetAttributes` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    to.set(pointer_attributes(ptr)?);
    Ok(())
}

/// Returns a pointer's attributes. A pointer unknown to the driver is unregistered host memory.
fn pointer_attributes(ptr: *const c_void) -> Result<PointerAttributes> {
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

/// `cudaMemset`.
pub unsafe fn memset(ptr: *mut c_void, value: c_int, bytes: usize) -> Result {
    // SAFETY: `cudaMemset` has the same requirements for `ptr` as `memset_async`.
    unsafe { memset_async(ptr, value, bytes, null_mut()) }
}

/// `cudaMemsetAsync`.
pub unsafe fn memset_async(
    ptr: *mut c_void,
    value: c_int,
    bytes: usize,
    stream: CUstream,
) -> Result {
    context()?;
    // SAFETY: `cudaMemsetAsync` has the same requirements for `ptr` as `cuMemsetD8Async`.
    check(unsafe { cu::cuMemsetD8Async(address(ptr), value as u8, bytes, driver_stream(stream)) })
}

/// `cudaMemset2D`.
pub unsafe fn memset_2d(
    ptr: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> Result {
    // SAFETY: `cudaMemset2D` has the same requirements for `ptr` as `memset_2d_async`.
    unsafe { memset_2d_async(ptr, pitch, value, width, height, null_mut()) }
}

/// `cudaMemset2DAsync`.
pub unsafe fn memset_2d_async(
    ptr: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    context()?;
    // SAFETY: `cudaMemset2DAsync` has the same requirements for `ptr` as `cuMemsetD2D8Async`.
    check(unsafe {
        cu::cuMemsetD2D8Async(
            address(ptr),
            pitch,
            value as u8,
            width,
            height,
            driver_stream(stream),
        )
    })
}

/// `cudaMemset3D`.
pub unsafe fn memset_3d(dst: PitchedPtr, value: c_int, extent: Extent) -> Result {
    // SAFETY: `cudaMemset3D` requires `extent` to lie within the allocation of `dst`.
    unsafe { memset_3d_async(dst, value, extent, null_mut()) }
}

/// `cudaMemset3DAsync`. A layer consists of `ysize` rows, of which `height` are filled.
pub unsafe fn memset_3d_async(
    dst: PitchedPtr,
    value: c_int,
    extent: Extent,
    stream: CUstream,
) -> Result {
    let layer = dst
        .pitch
        .checked_mul(dst.ysize)
        .ok_or(Error::INVALID_VALUE)?;
    if extent.width > dst.pitch || extent.height > dst.ysize {
        return Err(Error::INVALID_VALUE);
    }
    for z in 0..extent.depth {
        let start = dst.ptr.wrapping_byte_add(z.wrapping_mul(layer));
        // SAFETY: `start` is layer `z`, which lies within the allocation of `dst`.
        unsafe { memset_2d_async(start, dst.pitch, value, extent.width, extent.height, stream) }?;
    }
    Ok(())
}
