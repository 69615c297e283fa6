//! Allocation and what is known about an address.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cust_raw::CUstream;

use crate::arguments::Out;
use crate::start::{context, device};
use crate::status::{Answer, Error, driver};
use crate::stream::named;
use crate::types::{Extent, PitchedPtr, PointerAttributes};

/// `cudaMemoryType`: unregistered memory of the host's, and managed memory. The other numbers, 1 for the
/// host's and 2 for the device's, are the driver's.
const UNREGISTERED: c_int = 0;
const MANAGED: c_int = 3;

/// `cudaCpuDeviceId`: the host, where a device is asked for.
const CPU: c_int = -1;

/// An address of the device's as the pointer that C knows it by.
pub fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// A pointer as an address of the device's.
pub fn address(pointer: *const c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// `cudaMalloc`: no bytes are no error, and have no address.
pub unsafe fn allocate(to: *mut *mut c_void, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut address = 0;
    if bytes > 0 {
        // SAFETY: the driver writes an address.
        driver(unsafe { cu::cuMemAlloc_v2(&mut address, bytes) })?;
    }
    to.set(pointer(address));
    Ok(())
}

/// `cudaFree`. Nothing is freed of a null pointer, but the device is made ready: programs use that.
pub unsafe fn free(at: *mut c_void) -> Answer {
    context()?;
    if at.is_null() {
        return Ok(());
    }
    // SAFETY: any address may be named.
    driver(unsafe { cu::cuMemFree_v2(address(at)) })
}

/// `cudaMallocPitch`.
pub unsafe fn allocate_pitched(
    to: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Answer {
    // SAFETY: the caller's promise.
    let (to, pitch) = unsafe { (Out::new(to)?, Out::new(pitch)?) };
    context()?;
    let (start, found) = pitched(width, height)?;
    to.set(start);
    pitch.set(found);
    Ok(())
}

/// `cudaMalloc3D`.
pub unsafe fn allocate_3d(to: *mut PitchedPtr, extent: Extent) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let rows = extent.height.checked_mul(extent.depth);
    let (ptr, pitch) = pitched(extent.width, rows.ok_or(Error::INVALID_VALUE)?)?;
    to.set(PitchedPtr {
        ptr,
        pitch,
        xsize: extent.width,
        ysize: extent.height,
    });
    Ok(())
}

/// So many rows of so many bytes: where they are, and from one row to the next.
fn pitched(width: usize, height: usize) -> Answer<(*mut c_void, usize)> {
    /// The largest element that one instruction reads: the driver asks for its size.
    const ELEMENT: c_uint = 16;
    if width == 0 || height == 0 {
        return Ok((null_mut(), 0));
    }
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: the driver writes an address and a size.
    let result =
        unsafe { cu::cuMemAllocPitch_v2(&mut address, &mut pitch, width, height, ELEMENT) };
    driver(result)?;
    Ok((pointer(address), pitch))
}

/// `cudaMallocHost`.
pub unsafe fn allocate_host(to: *mut *mut c_void, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { allocate_host_with_flags(to, bytes, 0) }
}

/// `cudaHostAlloc`.
pub unsafe fn allocate_host_with_flags(
    to: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = null_mut();
    if bytes > 0 {
        // SAFETY: the driver writes an address.
        driver(unsafe { cu::cuMemHostAlloc(&mut found, bytes, flags) })?;
    }
    to.set(found);
    Ok(())
}

/// `cudaFreeHost`.
pub unsafe fn free_host(at: *mut c_void) -> Answer {
    context()?;
    if at.is_null() {
        return Ok(());
    }
    // SAFETY: any address may be named.
    driver(unsafe { cu::cuMemFreeHost(at) })
}

/// `cudaHostRegister`.
pub unsafe fn register_host(at: *mut c_void, bytes: usize, flags: c_uint) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemHostRegister_v2(at, bytes, flags) })
}

/// `cudaHostUnregister`.
pub unsafe fn unregister_host(at: *mut c_void) -> Answer {
    context()?;
    // SAFETY: any address may be named.
    driver(unsafe { cu::cuMemHostUnregister(at) })
}

/// `cudaHostGetDevicePointer`.
pub unsafe fn host_device_pointer(
    to: *mut *mut c_void,
    host: *mut c_void,
    flags: c_uint,
) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = 0;
    // SAFETY: the driver writes an address.
    driver(unsafe { cu::cuMemHostGetDevicePointer_v2(&mut found, host, flags) })?;
    to.set(pointer(found));
    Ok(())
}

/// `cudaHostGetFlags`.
pub unsafe fn host_flags(to: *mut c_uint, host: *mut c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = 0;
    // SAFETY: the driver writes a number.
    driver(unsafe { cu::cuMemHostGetFlags(&mut found, host) })?;
    to.set(found);
    Ok(())
}

/// `cudaMallocManaged`.
pub unsafe fn allocate_managed(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = 0;
    // SAFETY: the driver writes an address.
    driver(unsafe { cu::cuMemAllocManaged(&mut found, bytes, flags) })?;
    to.set(pointer(found));
    Ok(())
}

/// `cudaMemPrefetchAsync`.
pub unsafe fn prefetch(at: *const c_void, bytes: usize, to: c_int, stream: CUstream) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemPrefetchAsync(address(at), bytes, location(to)?, named(stream)) })
}

/// `cudaMemAdvise`.
pub unsafe fn advise(at: *const c_void, bytes: usize, advice: c_int, to: c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemAdvise(address(at), bytes, advice, location(to)?) })
}

/// A device or the host, as the driver numbers them.
fn location(number: c_int) -> Answer<c_int> {
    match number {
        CPU => Ok(CPU),
        number => Ok(device(number)?.handle),
    }
}

/// `cudaStreamAttachMemAsync`: which stream managed memory is used in. On a GPU that the host shares
/// managed memory with at any time, as here, it changes nothing.
pub unsafe fn attach(stream: CUstream, at: *mut c_void, _bytes: usize, flags: c_uint) -> Answer {
    /// Global, host, or this stream alone.
    const ATTACH: [c_uint; 3] = [1, 2, 4];
    let mut priority = 0;
    context()?;
    // SAFETY: asks whether there is such a stream.
    driver(unsafe { cu::cuStreamGetPriority(named(stream), &mut priority) })?;
    if !ATTACH.contains(&flags) || about(at)?.kind != MANAGED {
        return Err(Error::INVALID_VALUE);
    }
    Ok(())
}

/// `cudaMemGetInfo`.
pub unsafe fn info(free: *mut usize, total: *mut usize) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemGetInfo_v2(free, total) })
}

/// `cudaPointerGetAttributes`.
pub unsafe fn attributes(to: *mut PointerAttributes, of: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    to.set(about(of)?);
    Ok(())
}

/// What is known of an address. One that the driver does not know is the host's.
fn about(of: *const c_void) -> Answer<PointerAttributes> {
    /// Numbers of `CUpointer_attribute`.
    const MEMORY_TYPE: c_int = 2;
    const DEVICE_POINTER: c_int = 3;
    const HOST_POINTER: c_int = 4;
    const IS_MANAGED: c_int = 8;
    const DEVICE_ORDINAL: c_int = 9;
    let at = address(of);
    let mut kind: c_uint = 0;
    let mut managed: c_uint = 0;
    let mut device: c_int = 0;
    let (mut on_device, mut on_host) = (0_u64, 0_u64);
    let ask = |attribute, to: *mut c_void| {
        // SAFETY: `to` has room for what this attribute is.
        unsafe { cu::cuPointerGetAttribute(to, attribute, at) == 0 }
    };
    if !ask(MEMORY_TYPE, (&raw mut kind).cast()) {
        return Ok(PointerAttributes {
            kind: UNREGISTERED,
            device: -2,
            device_pointer: null_mut(),
            host_pointer: of.cast_mut(),
        });
    }
    ask(IS_MANAGED, (&raw mut managed).cast());
    ask(DEVICE_ORDINAL, (&raw mut device).cast());
    ask(DEVICE_POINTER, (&raw mut on_device).cast());
    ask(HOST_POINTER, (&raw mut on_host).cast());
    Ok(PointerAttributes {
        kind: if managed == 0 { kind as c_int } else { MANAGED },
        device,
        device_pointer: pointer(on_device),
        host_pointer: pointer(on_host),
    })
}

/// `cudaMemset`.
pub unsafe fn set(at: *mut c_void, value: c_int, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { set_async(at, value, bytes, null_mut()) }
}

/// `cudaMemsetAsync`.
pub unsafe fn set_async(at: *mut c_void, value: c_int, bytes: usize, stream: CUstream) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuMemsetD8Async(address(at), value as u8, bytes, named(stream)) })
}

/// `cudaMemset2D`.
pub unsafe fn set_2d(
    at: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { set_2d_async(at, pitch, value, width, height, null_mut()) }
}

/// `cudaMemset2DAsync`.
pub unsafe fn set_2d_async(
    at: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe {
        cu::cuMemsetD2D8Async(
            address(at),
            pitch,
            value as u8,
            width,
            height,
            named(stream),
        )
    })
}

/// `cudaMemset3D`.
pub unsafe fn set_3d(at: PitchedPtr, value: c_int, extent: Extent) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { set_3d_async(at, value, extent, null_mut()) }
}

/// `cudaMemset3DAsync`: a layer is `ysize` rows, of which `height` are filled.
pub unsafe fn set_3d_async(
    at: PitchedPtr,
    value: c_int,
    extent: Extent,
    stream: CUstream,
) -> Answer {
    let layer = at.pitch.checked_mul(at.ysize).ok_or(Error::INVALID_VALUE)?;
    if extent.width > at.pitch || extent.height > at.ysize {
        return Err(Error::INVALID_VALUE);
    }
    for z in 0..extent.depth {
        let start = at.ptr.wrapping_byte_add(z.wrapping_mul(layer));
        // SAFETY: the caller's promise.
        unsafe { set_2d_async(start, at.pitch, value, extent.width, extent.height, stream) }?;
    }
    Ok(())
}
