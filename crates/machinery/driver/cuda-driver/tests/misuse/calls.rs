//! Calls with invalid arguments.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::{ptr, thread};

use cust::sys::{self, CUmemorytype as Type, CUresult};

use crate::{allocate, kernel, launch, load_module, own_context};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Size of an allocation in bytes.
const BYTES: usize = 4096;

const STORE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
    .reg .b64 %a<3>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [p];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %a2, %r1, 4;\nadd.u64 %a1, %a1, %a2;\nst.global.u32 [%a1], %r1;\nret;\n}\n\0";

/// Evaluates calls. Returns for each its text, its result and the expected result.
macro_rules! table {
    ($($call:expr => $expected:expr),* $(,)?) => {
        $(assert_eq!($call, $expected, "{}", stringify!($call));)*
    };
}

#[test]
fn oversized_requests_are_rejected() {
    let _context = own_context();
    let p = allocate(BYTES);
    let mut address = 0;
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    // SAFETY: `host` is longer than every valid copy; the driver rejects all other arguments.
    unsafe {
        table! {
            sys::cuMemAlloc_v2(&mut address, usize::MAX) => MEMORY,
            sys::cuMemAlloc_v2(&mut address, 1 << 40) => MEMORY,
            sys::cuMemFree_v2(p + 1) => INVALID,
            sys::cuMemFree_v2(u64::MAX) => INVALID,
            sys::cuMemcpyDtoH_v2(h, p, BYTES + 1) => INVALID,
            sys::cuMemcpyDtoH_v2(h, p + 4000, 200) => INVALID,
            sys::cuMemcpyDtoH_v2(h, p - 1, 2) => INVALID,
            sys::cuMemcpyHtoD_v2(p, h, usize::MAX) => INVALID,
            sys::cuMemcpyDtoD_v2(p, p + 8, usize::MAX - 4) => INVALID,
            sys::cuMemcpyDtoH_v2(ptr::null_mut(), p, 16) => INVALID,
            sys::cuMemsetD32_v2(p, 7, BYTES / 4 + 1) => INVALID,
            sys::cuMemsetD32_v2(p, 7, usize::MAX / 2) => INVALID,
            sys::cuMemsetD32_v2(p + 1, 7, 1) => INVALID,
            sys::cuMemsetD2D32_v2(p, usize::MAX, 7, usize::MAX, usize::MAX) => INVALID,
            sys::cuMemsetD2D8_v2(p, 1 << 63, 7, 1, 3) => INVALID,
            sys::cuMemsetD32_v2(p, 7, BYTES / 4) => OK,
            sys::cuMemcpyDtoH_v2(h, p, BYTES) => OK,
        }
    }
    assert!(host[..BYTES].chunks(4).all(|word| word == [7, 0, 0, 0]));
    assert!(host[BYTES..].iter().all(|&byte| byte == 0));
}

#[test]
fn oversized_boxes_are_rejected() {
    let _context = own_context();
    let p = allocate(BYTES);
    let mut host = vec![0_u8; 2 * BYTES];
    let mut flat = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
    let at = flat.as_mut_ptr();
    // SAFETY: all-zero bytes are valid for every field except the memory types, which are set below.
    let mut flat = unsafe {
        (*at).srcMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        (*at).dstMemoryType = Type::CU_MEMORYTYPE_HOST;
        flat.assume_init()
    };
    flat.srcDevice = p;
    flat.dstHost = host.as_mut_ptr().cast();
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
        // SAFETY: the driver rejects null pointers and invalid arguments.
        unsafe {
            table! {
                sys::cuMemcpy2D_v2(&flat) => INVALID,
                sys::cuMemcpy2DUnaligned_v2(&flat) => INVALID,
            }
        }
    }
    let mut deep = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
    let at = deep.as_mut_ptr();
    // SAFETY: the callee passes its handles only to the driver, which looks them up and never dereferences
    // them.
    let mut deep = unsafe {
        (*at).srcMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        (*at).dstMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        deep.assume_init()
    };
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
        // SAFETY: the driver rejects null pointers and invalid arguments.
        let result = unsafe { sys::cuMemcpy3D_v2(&deep) };
        assert_eq!(result, INVALID, "{width} {height} {depth} {pitch} {rows}");
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
    let none = ptr::null_mut();
    let mut few = 3_usize;
    let mut extra = [
        ptr::without_provenance_mut(1),
        ptr::from_mut(&mut p).cast(),
        ptr::without_provenance_mut(2),
        ptr::from_mut(&mut few).cast(),
        ptr::null_mut::<c_void>(),
    ];
    // SAFETY: all outputs are writable locals; the strings are NUL-terminated; the parameters match the
    // kernel's signature; handles and addresses are looked up by the driver, never dereferenced.
    unsafe {
        table! {
            sys::cuModuleLoadData(&mut other, ptr::null()) => INVALID,
            sys::cuModuleGetFunction(&mut other.cast(), module, c"nope".as_ptr()) => CUresult::CUDA_ERROR_NOT_FOUND,
            sys::cuModuleGetFunction(&mut other.cast(), module, ptr::null()) => INVALID,
            sys::cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, none, ptr::null_mut(), ptr::null_mut()) => INVALID,
            sys::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, ptr::null_mut(), extra.as_mut_ptr()) => INVALID,
            sys::cuModuleUnload(module) => OK,
            sys::cuModuleUnload(module) => HANDLE,
            launch(function, 1, &mut [p]) => HANDLE,
            sys::cuEventCreate(&mut event, 0) => OK,
            sys::cuEventElapsedTime(&mut milliseconds, event, event) => HANDLE,
            sys::cuEventDestroy_v2(event) => OK,
            sys::cuEventDestroy_v2(event) => HANDLE,
            sys::cuEventRecord(event, none) => HANDLE,
            sys::cuEventSynchronize(event) => HANDLE,
            sys::cuStreamCreate(&mut stream, 0) => OK,
            sys::cuStreamDestroy_v2(stream) => OK,
            sys::cuStreamDestroy_v2(stream) => HANDLE,
            sys::cuStreamSynchronize(stream) => HANDLE,
            sys::cuStreamDestroy_v2(none) => HANDLE,
        }
    }
}

#[test]
fn host_memory_cannot_be_registered_twice() {
    let _context = own_context();
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    let already = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    let not = CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    // SAFETY: the memory lives until it is unregistered; the driver rejects all other addresses.
    unsafe {
        table! {
            sys::cuMemHostRegister_v2(h, 2 * BYTES, 0) => OK,
            sys::cuMemHostRegister_v2(h.wrapping_byte_add(16), 16, 0) => already,
            sys::cuMemHostUnregister(h) => OK,
            sys::cuMemHostUnregister(h) => not,
            sys::cuMemHostRegister_v2(ptr::null_mut(), 16, 0) => INVALID,
            sys::cuMemHostRegister_v2(h, usize::MAX, 0) => INVALID,
            sys::cuMemFreeHost(h) => INVALID,
        }
    }
}

/// A program that creates objects in a loop and never destroys them does not crash the process.
#[test]
fn leaked_objects_do_not_exhaust_the_driver() {
    let _context = own_context();
    let (mut event, mut stream) = (ptr::null_mut(), ptr::null_mut());
    for _ in 0..20_000 {
        // SAFETY: `event` and `stream` are writable.
        unsafe {
            table! {
                sys::cuEventCreate(&mut event, 0) => OK,
                sys::cuStreamCreate(&mut stream, 0) => OK,
            }
        }
    }
    let addresses: Vec<u64> = (0..5000).map(|_| allocate(1)).collect();
    for _ in 0..300 {
        load_module(STORE);
    }
    let function = kernel(load_module(STORE));
    assert_eq!(launch(function, 32, &mut [allocate(BYTES)]), OK);
    let mut different = addresses.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), addresses.len());
}

#[test]
fn concurrent_double_free_succeeds_once() {
    let context = own_context();
    let p = allocate(BYTES);
    let mut current = ptr::null_mut();
    // SAFETY: `current` is writable.
    let result = unsafe { sys::cuCtxGetCurrent(&mut current) };
    assert_eq!(result, OK);
    let current = current.expose_provenance();
    let frees = || {
        // SAFETY: the context lives until all threads have ended; the driver rejects a second free.
        (0..2).filter(|_| unsafe {
            sys::cuCtxSetCurrent(ptr::with_exposed_provenance_mut(current));
            sys::cuMemFree_v2(p) == OK
        })
    };
    let worked: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| frees().count())).collect();
        threads
            .into_iter()
            .map(|handle| handle.join().expect("no panic"))
            .sum()
    });
    assert_eq!(worked, 1);
    drop(context);
}
