//! Memory allocation, fills and pointer attributes.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_runtime::types::PointerAttributes;

use super::program::*;

#[test]
fn a_zero_byte_allocation_is_null_and_can_be_freed() {
    start();
    let mut ptr = std::ptr::dangling_mut();
    calls! { cudaMalloc(&mut ptr, 0); }
    assert!(ptr.is_null());
    calls! {
        cudaFree(ptr);
        cudaFreeHost(ptr);
    }
}

#[test]
fn invalid_frees_and_allocations_are_rejected() {
    let memory = Memory::new(64);
    calls! {
        cudaFree(memory.0.wrapping_byte_add(4)) => "cudaErrorInvalidValue";
        cudaFreeHost(memory.0) => "cudaErrorInvalidValue";
    }
    let mut ptr = null_mut();
    calls! {
        cudaMalloc(&mut ptr, 1 << 50) => "cudaErrorMemoryAllocation";
        cudaHostAlloc(&mut ptr, 4, 0x100) => "cudaErrorInvalidValue";
        cudaMallocManaged(&mut ptr, 4, 0) => "cudaErrorInvalidValue";
    }
}

#[test]
fn rows_and_layers_start_at_multiples_of_the_pitch() {
    start();
    let (mut ptr, mut pitch) = (null_mut(), 0);
    let mut pitched = pitched(null_mut(), 0, 0, 0);
    let size = extent([100, 3, 5]);
    calls! { cudaMallocPitch(&mut ptr, &mut pitch, 100, 7); }
    assert!(pitch >= 100 && pitch % 256 == 0, "{pitch}");
    calls! {
        cudaMemset2D(ptr, pitch, 0x5a, 100, 7);
        cudaFree(ptr);
        cudaMalloc3D(&mut pitched, size);
    }
    assert_eq!((pitched.xsize, pitched.ysize), (100, 3));
    calls! { cudaMemset3D(pitched, 1, size); }
    let too_wide = extent([pitched.pitch + 1, 3, 5]);
    calls! {
        cudaMemset3D(pitched, 1, too_wide) => "cudaErrorInvalidValue";
        cudaFree(pitched.ptr);
    }
}

#[test]
fn fills_change_only_the_requested_bytes() {
    let memory = Memory::of(&pattern(4096));
    let volume = pitched(memory.0, 64, 64, 8);
    let size = extent([10, 3, 2]);
    calls! {
        cudaMemset(memory.0.wrapping_byte_add(2048), 0x11, 100);
        cudaMemsetAsync(memory.0.wrapping_byte_add(2148), 0x122, 100, null_mut());
        cudaMemset2D(memory.0.wrapping_byte_add(3072), 32, 0x33, 5, 4);
        cudaMemset3D(volume, 0x44, size);
        cudaDeviceSynchronize();
    }
    let mut expected = pattern(4096);
    expected[2048..2148].fill(0x11);
    expected[2148..2248].fill(0x22);
    for row in 0..4 {
        expected[3072 + 32 * row..][..5].fill(0x33);
    }
    for (layer, row) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        expected[64 * (8 * layer + row)..][..10].fill(0x44);
    }
    assert_eq!(memory.values::<u8>(4096), expected);
}

#[test]
fn the_device_accesses_mapped_host_memory() {
    start();
    let mut ptr: *mut c_void = null_mut();
    calls! { cudaHostAlloc(&mut ptr, 256, 1); }
    let bytes = ptr.cast::<u8>();
    // SAFETY: the allocation has 256 bytes.
    unsafe { bytes.write_bytes(7, 256) };
    let mut device = null_mut();
    calls! {
        cudaHostGetDevicePointer(&mut device, ptr, 0);
        cudaMemset(device, 9, 16);
        cudaDeviceSynchronize();
    }
    // SAFETY: the allocation has 256 bytes, and the device is idle.
    assert_eq!(unsafe { (bytes.read(), bytes.add(16).read()) }, (9, 7));
    assert_eq!(get::<u32>(|to| code!(cudaHostGetFlags(to, ptr))), 1 | 2);
    calls! { cudaFreeHost(ptr); }
    let mut flags = 0;
    calls! { cudaHostGetFlags(&mut flags, ptr) => "cudaErrorInvalidValue"; }
    let mut host = vec![0_u8; 8192];
    let host_ptr = host.as_mut_ptr().cast();
    calls! {
        cudaHostRegister(host_ptr, 8192, 0);
        cudaHostRegister(host_ptr, 8192, 0) => "cudaErrorHostMemoryAlreadyRegistered";
        cudaMemset(host_ptr, 3, 8192);
        cudaHostUnregister(host_ptr);
        cudaHostUnregister(host_ptr) => "cudaErrorHostMemoryNotRegistered";
    }
    assert!(host.iter().all(|&byte| byte == 3));
}

#[test]
fn pointer_attributes_identify_the_memory_type() {
    let memory = Memory::new(64);
    let on_stack = 0_u8;
    let (mut managed, mut pinned) = (null_mut(), null_mut());
    calls! {
        cudaMallocManaged(&mut managed, 64, 1);
        cudaMallocHost(&mut pinned, 64);
    }
    let attributes_of = |ptr: *const c_void| {
        let mut attributes = PointerAttributes {
            kind: -1,
            device: -1,
            device_pointer: null_mut(),
            host_pointer: null_mut(),
        };
        calls! { cudaPointerGetAttributes(&mut attributes, ptr); }
        attributes
    };
    assert_eq!(attributes_of((&raw const on_stack).cast()).kind, 0);
    assert_eq!(attributes_of(pinned).kind, 1);
    let interior = memory.0.wrapping_byte_add(8);
    let device = attributes_of(interior);
    assert_eq!((device.kind, device.device), (2, 0));
    assert_eq!(
        (device.device_pointer, device.host_pointer),
        (interior, null_mut())
    );
    let managed_attributes = attributes_of(managed);
    assert_eq!(
        (
            managed_attributes.kind,
            managed_attributes.device_pointer,
            managed_attributes.host_pointer
        ),
        (3, managed, managed)
    );
    calls! {
        cudaMemAdvise(managed, 64, 1, 0);
        cudaMemPrefetchAsync(managed, 64, -1, null_mut());
        cudaMemPrefetchAsync(managed, 64, 0, null_mut());
    }
    let ordinal: c_int = 5;
    calls! {
        cudaMemPrefetchAsync(managed, 64, ordinal, null_mut()) => "cudaErrorInvalidDevice";
        cudaStreamAttachMemAsync(null_mut(), managed, 0, 4);
        cudaStreamAttachMemAsync(null_mut(), memory.0, 0, 4) => "cudaErrorInvalidValue";
        cudaFree(managed);
        cudaFreeHost(pinned);
    }
}

#[test]
fn free_memory_is_at_most_the_total() {
    start();
    let free = || {
        let (mut free, mut total) = (0, 0);
        calls! { cudaMemGetInfo(&mut free, &mut total); }
        assert!(free <= total);
        free
    };
    assert!(free() > 1 << 20);
}
