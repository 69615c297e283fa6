//! Calls with invalid arguments.

use std::ffi::c_void;
use std::{ptr, thread};

use cuda_driver::types::CUDA_MEMCPY2D;

use crate::support::*;
use crate::{kernel, launch, load_module};

/// Size of an allocation in bytes.
const BYTES: usize = 4096;

const STORE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
    .reg .b64 %a<3>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [p];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %a2, %r1, 4;\nadd.u64 %a1, %a1, %a2;\nst.global.u32 [%a1], %r1;\nret;\n}\n\0";

#[test]
fn oversized_requests_are_rejected() {
    let _context = own_context();
    let p = allocate(BYTES);
    let mut address = 0;
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    calls! {
        cuMemAlloc_v2(&mut address, usize::MAX) => OUT_OF_MEMORY;
        cuMemAlloc_v2(&mut address, 1 << 40) => OUT_OF_MEMORY;
        cuMemFree_v2(p + 1) => INVALID_VALUE;
        cuMemFree_v2(u64::MAX) => INVALID_VALUE;
        cuMemcpyDtoH_v2(h, p, BYTES + 1) => INVALID_VALUE;
        cuMemcpyDtoH_v2(h, p + 4000, 200) => INVALID_VALUE;
        cuMemcpyDtoH_v2(h, p - 1, 2) => INVALID_VALUE;
        cuMemcpyHtoD_v2(p, h, usize::MAX) => INVALID_VALUE;
        cuMemcpyDtoD_v2(p, p + 8, usize::MAX - 4) => INVALID_VALUE;
        cuMemcpyDtoH_v2(ptr::null_mut(), p, 16) => INVALID_VALUE;
        cuMemsetD32_v2(p, 7, BYTES / 4 + 1) => INVALID_VALUE;
        cuMemsetD32_v2(p, 7, usize::MAX / 2) => INVALID_VALUE;
        cuMemsetD32_v2(p + 1, 7, 1) => INVALID_VALUE;
        cuMemsetD2D32_v2(p, usize::MAX, 7, usize::MAX, usize::MAX) => INVALID_VALUE;
        cuMemsetD2D8_v2(p, 1 << 63, 7, 1, 3) => INVALID_VALUE;
        cuMemsetD32_v2(p, 7, BYTES / 4);
        cuMemcpyDtoH_v2(h, p, BYTES);
    }
    assert!(host[..BYTES].chunks(4).all(|word| word == [7, 0, 0, 0]));
    assert!(host[BYTES..].iter().all(|&byte| byte == 0));
}

#[test]
fn oversized_boxes_are_rejected() {
    let _context = own_context();
    let p = allocate(BYTES);
    let mut host = vec![0_u8; 2 * BYTES];
    let mut flat = CUDA_MEMCPY2D {
        srcDevice: p,
        dstHost: host.as_mut_ptr().cast(),
        ..copy_2d(DEVICE, HOST)
    };
    let max = usize::MAX;
    // Pitches, width, height, x and y.
    for [from, to, width, height, x, y] in [
        [64, 64, 64, 65, 0, 0],
        [max, 64, 64, 2, 0, 0],
        [64, 64, 64, max, 0, 0],
        [1 << 63, 64, 64, 3, 0, 0],
        [32, 64, 64, 2, 0, 0],
        [64, 64, 64, 2, max, max],
        [64, 64, max, 1, 0, 0],
    ] {
        flat.srcPitch = from;
        flat.dstPitch = to;
        flat.WidthInBytes = width;
        flat.Height = height;
        flat.srcXInBytes = x;
        flat.srcY = y;
        calls! {
            cuMemcpy2D_v2(&flat) => INVALID_VALUE;
            cuMemcpy2DUnaligned_v2(&flat) => INVALID_VALUE;
        }
    }
    let mut deep = copy_3d(DEVICE, DEVICE);
    (deep.srcDevice, deep.dstDevice) = (p, p);
    // Width, height, depth, pitch and rows per slice.
    for [width, height, depth, pitch, rows] in [
        [64, 8, 9, 64, 8],
        [64, max, max, 64, max],
        [64, 2, 2, max, max],
        [1, 1, 1 << 62, 1, 4],
    ] {
        (deep.WidthInBytes, deep.Height, deep.Depth) = (width, height, depth);
        (deep.srcPitch, deep.dstPitch) = (pitch, pitch);
        (deep.srcHeight, deep.dstHeight) = (rows, rows);
        let result = code!(cuMemcpy3D_v2(&deep));
        assert_eq!(
            result, INVALID_VALUE,
            "{width} {height} {depth} {pitch} {rows}"
        );
    }
    assert!(host.iter().all(|&byte| byte == 0));
}

#[test]
fn destroyed_objects_are_invalid() {
    let _context = own_context();
    let module = load_module(STORE);
    let function = kernel(module);
    let mut p = allocate(BYTES);
    let (mut event, mut stream, mut other) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let mut milliseconds = 0.0;
    let (none, list) = (ptr::null_mut(), ptr::null_mut());
    let mut few = 0_usize;
    let mut extra = [
        ptr::without_provenance_mut(1),
        ptr::from_mut(&mut p).cast(),
        ptr::without_provenance_mut(2),
        ptr::from_mut(&mut few).cast(),
        ptr::null_mut::<c_void>(),
    ];
    let extra = extra.as_mut_ptr();
    calls! {
        cuModuleLoadData(&mut other, ptr::null()) => INVALID_VALUE;
        cuModuleGetFunction(&mut other.cast(), module, c"nope".as_ptr()) => NOT_FOUND;
        cuModuleGetFunction(&mut other.cast(), module, ptr::null()) => INVALID_VALUE;
        cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, none, list, list) => INVALID_VALUE;
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, list, extra) => INVALID_VALUE;
        cuModuleUnload(module);
        cuModuleUnload(module) => INVALID_HANDLE;
    }
    assert_eq!(launch(function, 1, &[p]), INVALID_HANDLE);
    calls! {
        cuEventCreate(&mut event, 0);
        cuEventElapsedTime(&mut milliseconds, event, event) => INVALID_HANDLE;
        cuEventDestroy_v2(event);
        cuEventDestroy_v2(event) => INVALID_HANDLE;
        cuEventRecord(event, none) => INVALID_HANDLE;
        cuEventSynchronize(event) => INVALID_HANDLE;
        cuStreamCreate(&mut stream, 0);
        cuStreamDestroy_v2(stream);
        cuStreamDestroy_v2(stream) => INVALID_HANDLE;
        cuStreamSynchronize(stream) => INVALID_HANDLE;
        cuStreamDestroy_v2(none) => INVALID_HANDLE;
    }
}

#[test]
fn host_memory_cannot_be_registered_twice() {
    let _context = own_context();
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    // `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED` and `_NOT_REGISTERED`.
    let (already, not) = (712, 713);
    calls! {
        cuMemHostRegister_v2(h, 2 * BYTES, 0);
        cuMemHostRegister_v2(h.wrapping_byte_add(16), 16, 0) => already;
        cuMemHostUnregister(h);
        cuMemHostUnregister(h) => not;
        cuMemHostRegister_v2(ptr::null_mut(), 16, 0) => INVALID_VALUE;
        cuMemHostRegister_v2(h, usize::MAX, 0) => INVALID_VALUE;
        cuMemFreeHost(h) => INVALID_VALUE;
    }
}

/// A program that creates objects in a loop and never destroys them does not crash the process.
#[test]
fn leaked_objects_do_not_exhaust_the_driver() {
    let _context = own_context();
    let (mut event, mut stream) = (ptr::null_mut(), ptr::null_mut());
    for _ in 0..20_000 {
        calls! {
            cuEventCreate(&mut event, 0);
            cuStreamCreate(&mut stream, 0);
        }
    }
    let addresses: Vec<u64> = (0..5000).map(|_| allocate(1)).collect();
    for _ in 0..300 {
        load_module(STORE);
    }
    let function = kernel(load_module(STORE));
    assert_eq!(launch(function, 32, &[allocate(BYTES)]), 0);
    let mut different = addresses.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), addresses.len());
}

#[test]
fn concurrent_double_free_succeeds_once() {
    let context = own_context();
    let p = allocate(BYTES);
    let current = Shared(current_context());
    let frees = || {
        calls! { cuCtxSetCurrent(current.get()); }
        (0..2).filter(|_| code!(cuMemFree_v2(p)) == 0).count()
    };
    let worked: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(frees)).collect();
        threads
            .into_iter()
            .map(|handle| handle.join().expect("no panic"))
            .sum()
    });
    assert_eq!(worked, 1);
    drop(context);
}
