//! Allocation, fills, and what is known of an address.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::{Extent, PitchedPtr, PointerAttributes};

use super::program::{Memory, fails, get, ok, pattern, start};

#[test]
fn no_bytes_have_no_address_and_can_be_freed() {
    start();
    let mut at = std::ptr::dangling_mut();
    // SAFETY: an address is written; there is nothing behind it.
    unsafe {
        ok(cuda::cudaMalloc(&mut at, 0));
        assert!(at.is_null());
        ok(cuda::cudaFree(at));
        ok(cuda::cudaFreeHost(at));
    }
}

#[test]
fn what_was_not_allocated_cannot_be_freed() {
    let memory = Memory::new(64);
    // SAFETY: refused.
    unsafe {
        fails(
            cuda::cudaFree(memory.0.wrapping_byte_add(4)),
            "cudaErrorInvalidValue",
        );
        fails(cuda::cudaFreeHost(memory.0), "cudaErrorInvalidValue");
        let mut at = null_mut();
        fails(
            cuda::cudaMalloc(&mut at, 1 << 50),
            "cudaErrorMemoryAllocation",
        );
        fails(
            cuda::cudaHostAlloc(&mut at, 4, 0x100),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaMallocManaged(&mut at, 4, 0),
            "cudaErrorInvalidValue",
        );
    }
}

#[test]
fn rows_and_layers_lie_at_multiples_of_the_pitch() {
    start();
    let (mut at, mut pitch) = (null_mut(), 0);
    let mut box_ = PitchedPtr {
        ptr: null_mut(),
        pitch: 0,
        xsize: 0,
        ysize: 0,
    };
    let extent = Extent {
        width: 100,
        height: 3,
        depth: 5,
    };
    // SAFETY: addresses and sizes are written.
    unsafe {
        ok(cuda::cudaMallocPitch(&mut at, &mut pitch, 100, 7));
        assert!(pitch >= 100 && pitch % 256 == 0, "{pitch}");
        ok(cuda::cudaMemset2D(at, pitch, 0x5a, 100, 7));
        ok(cuda::cudaFree(at));
        ok(cuda::cudaMalloc3D(&mut box_, extent));
        assert_eq!((box_.xsize, box_.ysize), (100, 3));
        ok(cuda::cudaMemset3D(box_, 1, extent));
        let wide = Extent {
            width: box_.pitch + 1,
            ..extent
        };
        fails(cuda::cudaMemset3D(box_, 1, wide), "cudaErrorInvalidValue");
        ok(cuda::cudaFree(box_.ptr));
    }
}

#[test]
fn fills_reach_what_they_were_asked_for_and_no_more() {
    let memory = Memory::of(&pattern(4096));
    let volume = PitchedPtr {
        ptr: memory.0,
        pitch: 64,
        xsize: 64,
        ysize: 8,
    };
    let extent = Extent {
        width: 10,
        height: 3,
        depth: 2,
    };
    // SAFETY: all is inside the memory.
    unsafe {
        ok(cuda::cudaMemset(
            memory.0.wrapping_byte_add(2048),
            0x11,
            100,
        ));
        ok(cuda::cudaMemsetAsync(
            memory.0.wrapping_byte_add(2148),
            0x122,
            100,
            null_mut(),
        ));
        ok(cuda::cudaMemset2D(
            memory.0.wrapping_byte_add(3072),
            32,
            0x33,
            5,
            4,
        ));
        ok(cuda::cudaMemset3D(volume, 0x44, extent));
        ok(cuda::cudaDeviceSynchronize());
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
fn host_memory_is_reached_by_the_device() {
    start();
    let mut at: *mut c_void = null_mut();
    // SAFETY: addresses and flags are written.
    unsafe {
        ok(cuda::cudaHostAlloc(&mut at, 256, 1));
        at.cast::<u8>().write_bytes(7, 256);
        let mut device = null_mut();
        ok(cuda::cudaHostGetDevicePointer(&mut device, at, 0));
        ok(cuda::cudaMemset(device, 9, 16));
        ok(cuda::cudaDeviceSynchronize());
        assert_eq!(at.cast::<u8>().read(), 9);
        assert_eq!(at.cast::<u8>().add(16).read(), 7);
        assert_eq!(get::<u32>(|to| cuda::cudaHostGetFlags(to, at)), 1 | 2);
        ok(cuda::cudaFreeHost(at));
        let mut flags = 0;
        fails(
            cuda::cudaHostGetFlags(&mut flags, at),
            "cudaErrorInvalidValue",
        );
    }
    let mut own = vec![0_u8; 8192];
    let own_at = own.as_mut_ptr().cast();
    // SAFETY: the memory stays until it is unregistered.
    unsafe {
        ok(cuda::cudaHostRegister(own_at, 8192, 0));
        let again = cuda::cudaHostRegister(own_at, 8192, 0);
        fails(again, "cudaErrorHostMemoryAlreadyRegistered");
        ok(cuda::cudaMemset(own_at, 3, 8192));
        ok(cuda::cudaHostUnregister(own_at));
        fails(
            cuda::cudaHostUnregister(own_at),
            "cudaErrorHostMemoryNotRegistered",
        );
    }
    assert!(own.iter().all(|&byte| byte == 3));
}

#[test]
fn an_address_says_whose_memory_it_is() {
    let memory = Memory::new(64);
    let on_stack = 0_u8;
    // SAFETY: addresses are written, and asked about.
    unsafe {
        let (mut managed, mut pinned) = (null_mut(), null_mut());
        ok(cuda::cudaMallocManaged(&mut managed, 64, 1));
        ok(cuda::cudaMallocHost(&mut pinned, 64));
        let kind = |at: *const c_void| {
            let mut found = PointerAttributes {
                kind: -1,
                device: -1,
                device_pointer: null_mut(),
                host_pointer: null_mut(),
            };
            ok(cuda::cudaPointerGetAttributes(&mut found, at));
            found
        };
        assert_eq!(kind((&raw const on_stack).cast()).kind, 0);
        assert_eq!(kind(pinned).kind, 1);
        let inside = memory.0.wrapping_byte_add(8);
        let device = kind(inside);
        assert_eq!((device.kind, device.device), (2, 0));
        assert_eq!(
            (device.device_pointer, device.host_pointer),
            (inside, null_mut())
        );
        let both = kind(managed);
        assert_eq!(
            (both.kind, both.device_pointer, both.host_pointer),
            (3, managed, managed)
        );
        ok(cuda::cudaMemAdvise(managed, 64, 1, 0));
        ok(cuda::cudaMemPrefetchAsync(managed, 64, -1, null_mut()));
        ok(cuda::cudaMemPrefetchAsync(managed, 64, 0, null_mut()));
        let beyond: c_int = 5;
        let nowhere = cuda::cudaMemPrefetchAsync(managed, 64, beyond, null_mut());
        fails(nowhere, "cudaErrorInvalidDevice");
        ok(cuda::cudaStreamAttachMemAsync(null_mut(), managed, 0, 4));
        let not_managed = cuda::cudaStreamAttachMemAsync(null_mut(), memory.0, 0, 4);
        fails(not_managed, "cudaErrorInvalidValue");
        ok(cuda::cudaFree(managed));
        ok(cuda::cudaFreeHost(pinned));
    }
}

#[test]
fn some_of_all_memory_is_free() {
    start();
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: two sizes are written.
        ok(unsafe { cuda::cudaMemGetInfo(&mut free, &mut total) });
        assert!(free <= total);
        free
    };
    assert!(free() > 1 << 20);
}
