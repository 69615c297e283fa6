//! Memory of each kind, copies and fills.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use cuda_driver::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D};
use cust::error::CudaError;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer,
    mem_get_info,
};
use cust::stream::{Stream, StreamFlags};

use super::support::*;
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
    calls! {
        cuMemAlloc_v2(&mut address, 0) => INVALID_VALUE;
        cuMemAlloc_v2(ptr::null_mut(), 4) => INVALID_VALUE;
        cuMemAlloc_v2(&mut address, 4);
        cuMemcpyHtoD_v2(address, ptr::null(), 4) => INVALID_VALUE;
        cuMemcpyHtoD_v2(address + 1, host, 4) => INVALID_VALUE;
        cuMemcpyDtoH_v2(host, 0, 4) => INVALID_VALUE;
        cuMemsetD32_v2(address, 1, 2) => INVALID_VALUE;
        cuMemFree_v2(address + 1) => INVALID_VALUE;
        cuMemFree_v2(address);
        cuMemFree_v2(address) => INVALID_VALUE;
        cuMemFree_v2(0);
        cuMemcpyDtoH_v2(host, address, 4) => INVALID_VALUE;
        cuMemcpy2D_v2(ptr::null()) => INVALID_VALUE;
        cuMemcpy3D_v2(ptr::null()) => INVALID_VALUE;
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
    calls! { cuMemAllocPitch_v2(&mut address, &mut pitch, WIDTH, HEIGHT, 4); }
    assert_eq!(pitch, 512);
    // No memory type is 0, so a zeroed structure is rejected.
    calls! { cuMemcpy2D_v2(MaybeUninit::zeroed().as_ptr()) => INVALID_VALUE; }
    let to = CUDA_MEMCPY2D {
        srcHost: source.as_ptr().cast(),
        srcPitch: WIDTH,
        dstDevice: address,
        dstPitch: pitch,
        WidthInBytes: WIDTH,
        Height: HEIGHT,
        ..copy_2d(HOST, DEVICE)
    };
    let mut back = CUDA_MEMCPY3D {
        srcDevice: address,
        srcPitch: pitch,
        dstHost: result.as_mut_ptr().cast(),
        WidthInBytes: WIDTH,
        Height: HEIGHT,
        Depth: 1,
        ..copy_3d(UNIFIED, HOST)
    };
    calls! {
        cuMemcpy2D_v2(&to);
        cuMemsetD2D8_v2(address, pitch, 0xff, 2, HEIGHT);
        cuMemcpy3D_v2(&back);
    }
    // There is no array.
    back.srcMemoryType = ARRAY;
    calls! {
        cuMemcpy3D_v2(&back) => INVALID_HANDLE;
        cuMemFree_v2(address);
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
    let to = (&raw mut size).cast();
    calls! {
        // The memory's type, its size, and its address on the host.
        cuPointerGetAttribute((&raw mut kind).cast(), 2, start + 50);
        cuPointerGetAttribute(to, 12, start + 50);
        cuPointerGetAttribute(to, 4, start + 50) => INVALID_VALUE;
        cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 99);
        cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 100) => NOT_FOUND;
    }
    assert_eq!((kind, size, base), (2, 100, start));
}
