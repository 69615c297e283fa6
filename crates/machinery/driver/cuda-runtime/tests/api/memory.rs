//! Memory allocation, fills and pointer attributes.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::{Extent, PitchedPtr, PointerAttributes};

use super::program::{Memory, fails, get, ok, pattern, start};

#[test]
fn a_zero_byte_allocation_is_null_and_can_be_freed() {
    start();
    let mut ptr = std::ptr::dangling_mut();
    // SAFETY: `ptr` is writable, and a null pointer may be freed.
    unsafe {
        ok(cuda::cudaMalloc(&mut ptr, 0));
        assert!(ptr.is_null());
        ok(cuda::cudaFree(ptr));
        ok(cuda::cudaFreeHost(ptr));
    }
}

#[test]
fn invalid_frees_and_allocations_are_rejected() {
    let memory = Memory::new(64);
    // SAFETY: every call is rejected.
    unsafe {
        fails(
            cuda::cudaFree(memory.0.wrapping_byte_add(4)),
            "cudaErrorInvalidValue",
        );
        fails(cuda::cudaFreeHost(memory.0), "cudaErrorInvalidValue");
        let mut ptr = null_mut();
        fails(
            cuda::cudaMalloc(&mut ptr, 1 << 50),
            "cudaErrorMemoryAllocation",
        );
        fails(
            cuda::cudaHostAlloc(&mut ptr, 4, 0x100),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaMallocManaged(&mut ptr, 4, 0),
            "cudaErrorInvalidValue",
        );
    }
}

#[test]
fn rows_and_layers_start_at_multiples_of_the_pitch() {
    start();
    let (mut ptr, mut pitch) = (null_mut(), 0);
    let mut pitched = PitchedPtr {
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
    // SAFETY: the fills stay within the allocations, or are rejected.
    unsafe {
        ok(cuda::cudaMallocPitch(&mut ptr, &mut pitch, 100, 7));
        assert!(pitch >= 100 && pitch % 256 == 0, "{pitch}");
        ok(cuda::cudaMemset2D(ptr, pitch, 0x5a, 100, 7));
        ok(cuda::cudaFree(ptr));
        ok(cuda::cudaMalloc3D(&mut pitched, extent));
        assert_eq!((pitched.xsize, pitched.ysize), (100, 3));
        ok(cuda::cudaMemset3D(pitched, 1, extent));
        let too_wide = Extent {
            width: pitched.pitch + 1,
            ..extent
        };
        fails(
            cuda::cudaMemset3D(pitched, 1, too_wide),
            "cudaErrorInvalidValue",
        );
        ok(cuda::cudaFree(pitched.ptr));
    }
}

#[test]
fn fills_change_only_the_requested_bytes() {
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
    // SAFETY: every fill lies inside the 4096 bytes.
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
fn the_device_accesses_mapped_host_memory() {
    start();
    let mut ptr: *mut c_void = null_mut();
    // SAFETY: the allocation has 256 bytes; all out-parameters are local variables.
    unsafe {
        ok(cuda::cudaHostAlloc(&mut ptr, 256, 1));
        ptr.cast::<u8>().write_bytes(7, 256);
        let mut device = null_mut();
        ok(cuda::cudaHostGetDevicePointer(&mut device, ptr, 0));
        ok(cuda::cudaMemset(device, 9, 16));
        ok(cuda::cudaDeviceSynchronize());
        assert_eq!(ptr.cast::<u8>().read(), 9);
        assert_eq!(ptr.cast::<u8>().add(16).read(), 7);
        assert_eq!(get::<u32>(|to| cuda::cudaHostGetFlags(to, ptr)), 1 | 2);
        ok(cuda::cudaFreeHost(ptr));
        let mut flags = 0;
        fails(
            cuda::cudaHostGetFlags(&mut flags, ptr),
            "cudaErrorInvalidValue",
        );
    }
    let mut host = vec![0_u8; 8192];
    let host_ptr = host.as_mut_ptr().cast();
    // SAFETY: `host` outlives its registration.
    unsafe {
        ok(cuda::cudaHostRegister(host_ptr, 8192, 0));
        let registered_twice = cuda::cudaHostRegister(host_ptr, 8192, 0);
        fails(registered_twice, "cudaErrorHostMemoryAlreadyRegistered");
        ok(cuda::cudaMemset(host_ptr, 3, 8192));
        ok(cuda::cudaHostUnregister(host_ptr));
        fails(
            cuda::cudaHostUnregister(host_ptr),
            "cudaErrorHostMemoryNotRegistered",
        );
    }
    assert!(host.iter().all(|&byte| byte == 3));
}

#[test]
fn pointer_attributes_identify_the_memory_type() {
    let memory = Memory::new(64);
    let on_stack = 0_u8;
    // SAFETY: all out-parameters are local variables; the queried addresses are not accessed.
    unsafe {
        let (mut managed, mut pinned) = (null_mut(), null_mut());
        ok(cuda::cudaMallocManaged(&mut managed, 64, 1));
        ok(cuda::cudaMallocHost(&mut pinned, 64));
        let attributes_of = |ptr: *const c_void| {
            let mut attributes = PointerAttributes {
                kind: -1,
                device: -1,
                device_pointer: null_mut(),
                host_pointer: null_mut(),
            };
            ok(cuda::cudaPointerGetAttributes(&mut attributes, ptr));
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
        ok(cuda::cudaMemAdvise(managed, 64, 1, 0));
        ok(cuda::cudaMemPrefetchAsync(managed, 64, -1, null_mut()));
        ok(cuda::cudaMemPrefetchAsync(managed, 64, 0, null_mut()));
        let ordinal: c_int = 5;
        let invalid_device = cuda::cudaMemPrefetchAsync(managed, 64, ordinal, null_mut());
        fails(invalid_device, "cudaErrorInvalidDevice");
        ok(cuda::cudaStreamAttachMemAsync(null_mut(), managed, 0, 4));
        let not_managed = cuda::cudaStreamAttachMemAsync(null_mut(), memory.0, 0, 4);
        fails(not_managed, "cudaErrorInvalidValue");
        ok(cuda::cudaFree(managed));
        ok(cuda::cudaFreeHost(pinned));
    }
}

#[test]
fn free_memory_is_at_most_the_total() {
    start();
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: `free` and `total` are writable.
        ok(unsafe { cuda::cudaMemGetInfo(&mut free, &mut total) });
        assert!(free <= total);
        free
    };
    assert!(free() > 1 << 20);
}
