//! Memory of each kind, copies and fills.

use std::ffi::c_void;
use std::ptr;

use cust::error::CudaError;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer,
    mem_get_info,
};
use cust::stream::{Stream, StreamFlags};
use cust::sys;

use super::{Test, simulator};

#[test]
fn buffers_round_trip_through_device_memory() -> Test {
    let _context = simulator();
    let data: Vec<u32> = (0..1000).collect();
    let buffer = DeviceBuffer::from_slice(&data)?;
    assert_eq!(buffer.as_host_vec()?, data);

    let mut other = DeviceBuffer::<u32>::zeroed(1000)?;
    assert!(other.as_host_vec()?.iter().all(|&word| word == 0));
    buffer.copy_to(&mut other)?;
    assert_eq!(other.as_host_vec()?, data);
    other.set_32(7)?;
    assert!(other.as_host_vec()?.iter().all(|&word| word == 7));

    let mut boxed = DeviceBox::new(&41u64)?;
    boxed.copy_from(&42)?;
    assert_eq!(boxed.as_host_value()?, 42);
    Ok(())
}

#[test]
fn every_kind_of_host_memory_works() -> Test {
    let _context = simulator();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut unified = UnifiedBuffer::new(&3u32, 100)?;
    unified[99] = 4;
    assert_eq!(unified.iter().sum::<u32>(), 3 * 99 + 4);

    let locked = LockedBuffer::new(&5u32, 100)?;
    let mut device = DeviceBuffer::from_slice(&[0u32; 100])?;
    // SAFETY: the stream is synchronized before either buffer is used again.
    unsafe { device.async_copy_from(&locked, &stream) }?;
    stream.synchronize()?;
    assert_eq!(device.as_host_vec()?, [5; 100]);
    Ok(())
}

#[test]
fn exhausting_memory_is_an_error() {
    let _context = simulator();
    let (_, total) = mem_get_info().unwrap();
    // SAFETY: the address is never dereferenced.
    let refused = unsafe { DeviceBuffer::<u8>::uninitialized(total + 1) };
    assert_eq!(refused.err(), Some(CudaError::OutOfMemory));
}

#[test]
fn invalid_addresses_are_rejected() {
    let _context = simulator();
    let mut address = 0;
    let mut word = [0u8; 4];
    let host = word.as_mut_ptr().cast::<c_void>();
    let invalid = sys::CUresult::CUDA_ERROR_INVALID_VALUE;
    // SAFETY: `address` is writable, and `host` has 4 bytes; the driver rejects all other arguments.
    unsafe {
        assert_eq!(sys::cuMemAlloc_v2(&mut address, 0), invalid);
        assert_eq!(sys::cuMemAlloc_v2(ptr::null_mut(), 4), invalid);
        assert_eq!(
            sys::cuMemAlloc_v2(&mut address, 4),
            sys::CUresult::CUDA_SUCCESS
        );
        assert_eq!(sys::cuMemcpyHtoD_v2(address, ptr::null(), 4), invalid);
        assert_eq!(sys::cuMemcpyHtoD_v2(address + 1, host, 4), invalid);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, 0, 4), invalid);
        assert_eq!(sys::cuMemsetD32_v2(address, 1, 2), invalid);
        assert_eq!(sys::cuMemFree_v2(address + 1), invalid);
        assert_eq!(sys::cuMemFree_v2(address), sys::CUresult::CUDA_SUCCESS);
        assert_eq!(sys::cuMemFree_v2(address), invalid);
        assert_eq!(sys::cuMemFree_v2(0), sys::CUresult::CUDA_SUCCESS);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, address, 4), invalid);
        assert_eq!(sys::cuMemcpy2D_v2(ptr::null()), invalid);
        assert_eq!(sys::cuMemcpy3D_v2(ptr::null()), invalid);
    }
}

/// Copies rows of a pitched table in, fills them in part and copies them out, with raw functions for which
/// `cust` has no wrappers.
#[test]
fn pitched_rows_are_copied_and_filled() {
    const WIDTH: usize = 40;
    const HEIGHT: usize = 3;
    let _context = simulator();
    let source: Vec<u8> = (0..WIDTH * HEIGHT).map(|i| i as u8).collect();
    let mut result = vec![0u8; WIDTH * HEIGHT];
    let (mut address, mut pitch) = (0, 0);
    let succeeded = sys::CUresult::CUDA_SUCCESS;
    // SAFETY: all-zero bytes are valid for the structures once their memory types are set; the host arrays
    // are as large as the copies.
    unsafe {
        let status = sys::cuMemAllocPitch_v2(&mut address, &mut pitch, WIDTH, HEIGHT, 4);
        assert_eq!(status, succeeded);
        assert_eq!(pitch, 512);

        let mut copy = std::mem::MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
        let to = copy.as_mut_ptr();
        // No memory type is 0, so a zeroed structure is rejected.
        assert_eq!(
            sys::cuMemcpy2D_v2(to),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE
        );
        (*to).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
        (*to).srcHost = source.as_ptr().cast();
        (*to).srcPitch = WIDTH;
        (*to).dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (*to).dstDevice = address;
        (*to).dstPitch = pitch;
        (*to).WidthInBytes = WIDTH;
        (*to).Height = HEIGHT;
        assert_eq!(sys::cuMemcpy2D_v2(to), succeeded);
        assert_eq!(
            sys::cuMemsetD2D8_v2(address, pitch, 0xff, 2, HEIGHT),
            succeeded
        );

        let mut copy = std::mem::MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
        let back = copy.as_mut_ptr();
        (*back).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_UNIFIED;
        (*back).srcDevice = address;
        (*back).srcPitch = pitch;
        (*back).dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
        (*back).dstHost = result.as_mut_ptr().cast();
        (*back).WidthInBytes = WIDTH;
        (*back).Height = HEIGHT;
        (*back).Depth = 1;
        assert_eq!(sys::cuMemcpy3D_v2(back), succeeded);
        // There is no array.
        (*back).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_ARRAY;
        assert_eq!(
            sys::cuMemcpy3D_v2(back),
            sys::CUresult::CUDA_ERROR_INVALID_HANDLE
        );
        assert_eq!(sys::cuMemFree_v2(address), succeeded);
    }
    for (got, sent) in result.chunks(WIDTH).zip(source.chunks(WIDTH)) {
        assert_eq!(got[..2], [0xff; 2]);
        assert_eq!(got[2..], sent[2..]);
    }
}

#[test]
fn pointer_attributes_are_reported() {
    let _context = simulator();
    let buffer = DeviceBuffer::from_slice(&[0u8; 100]).unwrap();
    let start = buffer.as_device_ptr().as_raw();
    let (mut kind, mut size, mut base) = (0u32, 0usize, 0);
    let succeeded = sys::CUresult::CUDA_SUCCESS;
    // SAFETY: `base`, `kind` and `size` are writable and as large as their attributes; `start` is a device
    // address that the driver looks up.
    unsafe {
        use sys::CUpointer_attribute::*;
        let query =
            |to: *mut c_void, attribute| sys::cuPointerGetAttribute(to, attribute, start + 50);
        assert_eq!(
            query((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
            succeeded
        );
        assert_eq!(
            query((&raw mut size).cast(), CU_POINTER_ATTRIBUTE_RANGE_SIZE),
            succeeded
        );
        assert_eq!(
            query((&raw mut size).cast(), CU_POINTER_ATTRIBUTE_HOST_POINTER),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE
        );
        assert_eq!(
            sys::cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 99),
            succeeded
        );
        assert_eq!(
            sys::cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 100),
            sys::CUresult::CUDA_ERROR_NOT_FOUND
        );
    }
    assert_eq!((kind, size, base), (2, 100, start));
}
