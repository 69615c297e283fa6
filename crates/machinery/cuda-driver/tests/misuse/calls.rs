//! Calls with wild arguments.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::{ptr, thread};

use cust::sys::{self, CUmemorytype as Type, CUresult};

use crate::{allocated, kernel, launch, loaded, own_context};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Bytes of an allocation.
const BYTES: usize = 4096;

const STORE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
    .reg .b64 %a<3>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [p];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %a2, %r1, 4;\nadd.u64 %a1, %a1, %a2;\nst.global.u32 [%a1], %r1;\nret;\n}\n\0";

/// Each call's text and what it answered, beside what it should.
macro_rules! table {
    ($($call:expr => $wanted:expr),* $(,)?) => {
        $(assert_eq!($call, $wanted, "{}", stringify!($call));)*
    };
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let _context = own_context();
    let p = allocated(BYTES);
    let mut address = 0;
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    // SAFETY: `host` is longer than what is copied where a copy is made; all else is refused.
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
fn boxes_that_do_not_fit_are_refused() {
    let _context = own_context();
    let p = allocated(BYTES);
    let mut host = vec![0_u8; 2 * BYTES];
    let mut flat = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
    let at = flat.as_mut_ptr();
    // SAFETY: zero is a value of every field but the memory types, which are set.
    let mut flat = unsafe {
        (*at).srcMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        (*at).dstMemoryType = Type::CU_MEMORYTYPE_HOST;
        flat.assume_init()
    };
    flat.srcDevice = p;
    flat.dstHost = host.as_mut_ptr().cast();
    let most = usize::MAX;
    // Pitches, width, height, x and y.
    for [from, to, width, height, x, y] in [
        [64, 64, 64, 65, 0, 0],
        [most, 64, 64, 2, 0, 0],
        [64, 64, 64, most, 0, 0],
        [1 << 63, 64, 64, 3, 0, 0],
        [32, 64, 64, 2, 0, 0],
        [64, 64, 64, 2, most, most],
        [64, 64, most, 1, 0, 0],
    ] {
        flat.srcPitch = from;
        flat.dstPitch = to;
        flat.WidthInBytes = width;
        flat.Height = height;
        flat.srcXInBytes = x;
        flat.srcY = y;
        // SAFETY: refused.
        unsafe {
            table! {
                sys::cuMemcpy2D_v2(&flat) => INVALID,
                sys::cuMemcpy2DUnaligned_v2(&flat) => INVALID,
            }
        }
    }
    let mut deep = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
    let at = deep.as_mut_ptr();
    // SAFETY: as above.
    let mut deep = unsafe {
        (*at).srcMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        (*at).dstMemoryType = Type::CU_MEMORYTYPE_DEVICE;
        deep.assume_init()
    };
    (deep.srcDevice, deep.dstDevice) = (p, p);
    // Width, height, depth, pitch and rows of a slice.
    for [width, height, depth, pitch, rows] in [
        [64, 8, 9, 64, 8],
        [64, most, most, 64, most],
        [64, 2, 2, most, most],
        [1, 1, 1 << 62, 1, 4],
    ] {
        (deep.WidthInBytes, deep.Height, deep.Depth) = (width, height, depth);
        (deep.srcPitch, deep.dstPitch) = (pitch, pitch);
        (deep.srcHeight, deep.dstHeight) = (rows, rows);
        // SAFETY: refused.
        let result = unsafe { sys::cuMemcpy3D_v2(&deep) };
        assert_eq!(result, INVALID, "{width} {height} {depth} {pitch} {rows}");
    }
    assert!(host.iter().all(|&byte| byte == 0));
}

#[test]
fn what_is_gone_is_unknown() {
    let _context = own_context();
    let module = loaded(STORE);
    let function = kernel(module);
    let mut p = allocated(BYTES);
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
    // SAFETY: handles are looked up, never followed; all results can be written to.
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
fn host_memory_is_registered_once() {
    let _context = own_context();
    let mut host = vec![0_u8; 2 * BYTES];
    let h = host.as_mut_ptr().cast::<c_void>();
    let already = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    let not = CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    // SAFETY: the memory is there until it is no longer registered; all else is refused.
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

/// What a program makes in a loop and never gives back does not end the process.
#[test]
fn many_are_made_and_the_next_call_still_works() {
    let _context = own_context();
    let (mut event, mut stream) = (ptr::null_mut(), ptr::null_mut());
    for _ in 0..20_000 {
        // SAFETY: the handles can be written to.
        unsafe {
            table! {
                sys::cuEventCreate(&mut event, 0) => OK,
                sys::cuStreamCreate(&mut stream, 0) => OK,
            }
        }
    }
    let addresses: Vec<u64> = (0..5000).map(|_| allocated(1)).collect();
    for _ in 0..300 {
        loaded(STORE);
    }
    let function = kernel(loaded(STORE));
    assert_eq!(launch(function, 32, &mut [allocated(BYTES)]), OK);
    let mut different = addresses.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), addresses.len());
}

#[test]
fn of_threads_that_free_the_same_one_does() {
    let context = own_context();
    let p = allocated(BYTES);
    let mut current = ptr::null_mut();
    // SAFETY: the handle can be written to.
    let result = unsafe { sys::cuCtxGetCurrent(&mut current) };
    assert_eq!(result, OK);
    let current = current.expose_provenance();
    let frees = || {
        // SAFETY: the context is there until all threads have ended; who frees again is refused.
        (0..2).filter(|_| unsafe {
            sys::cuCtxSetCurrent(ptr::with_exposed_provenance_mut(current));
            sys::cuMemFree_v2(p) == OK
        })
    };
    let worked: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| frees().count())).collect();
        threads
            .into_iter()
            .map(|it| it.join().expect("no panic"))
            .sum()
    });
    assert_eq!(worked, 1);
    drop(context);
}
