//! Streams, events, and functions of the program's that run in a stream.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::functions as cu;
use cuda_driver::types::CUlaunchAttributeValue;
use cuda_runtime as cuda;
use cust_raw::{CUevent, CUstream};

use super::program::{Memory, NOTHING, fails, get, host, name, ok, start};
use cuda_runtime::types::Dim3;

/// `cudaStreamPerThread`.
fn per_thread() -> CUstream {
    std::ptr::without_provenance_mut(2)
}

/// `cudaStreamAttributeAccessPolicyWindow`: which memory is to stay in the L2 cache.
const WINDOW: c_int = 1;

#[test]
fn a_stream_keeps_its_attributes() {
    start();
    let mut stream = null_mut();
    let mut other = null_mut();
    let value = CUlaunchAttributeValue([7; 16]);
    let mut found = CUlaunchAttributeValue([1; 16]);
    // SAFETY: handles and values are written.
    unsafe {
        ok(cuda::cudaStreamCreate(&mut stream));
        ok(cuda::cudaStreamCreate(&mut other));
        ok(cuda::cudaStreamGetAttribute(stream, WINDOW, &mut found));
        assert_eq!(found.0, [0; 16]);
        ok(cuda::cudaStreamSetAttribute(stream, WINDOW, &value));
        ok(cuda::cudaStreamCopyAttributes(other, stream));
        ok(cuda::cudaStreamGetAttribute(other, WINDOW, &mut found));
        assert_eq!(found.0, value.0);
        let wrong = cuda::cudaStreamSetAttribute(stream, 77, &value);
        fails(wrong, "cudaErrorInvalidValue");
        ok(cuda::cudaStreamDestroy(stream));
        ok(cuda::cudaStreamDestroy(other));
    }
}

#[test]
fn a_stream_is_made_asked_and_destroyed() {
    start();
    let mut stream = null_mut();
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: handles and numbers are written.
    unsafe {
        ok(cuda::cudaDeviceGetStreamPriorityRange(
            &mut least,
            &mut greatest,
        ));
        assert!(greatest < least);
        ok(cuda::cudaStreamCreateWithPriority(&mut stream, 1, greatest));
        assert_eq!(
            get::<c_int>(|to| cuda::cudaStreamGetPriority(stream, to)),
            greatest
        );
        assert_eq!(get::<u32>(|to| cuda::cudaStreamGetFlags(stream, to)), 1);
        assert_eq!(get::<c_int>(|to| cuda::cudaStreamGetDevice(stream, to)), 0);
        assert_eq!(
            get::<c_int>(|to| cuda::cudaStreamIsCapturing(stream, to)),
            0
        );
        ok(cuda::cudaStreamQuery(stream));
        ok(cuda::cudaStreamSynchronize(stream));
        ok(cuda::cudaStreamDestroy(stream));
        fails(
            cuda::cudaStreamSynchronize(stream),
            "cudaErrorInvalidResourceHandle",
        );
        fails(
            cuda::cudaStreamCreateWithFlags(&mut stream, 8),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaStreamDestroy(null_mut()),
            "cudaErrorInvalidResourceHandle",
        );
    }
}

#[test]
fn each_thread_has_its_own_default_stream() {
    let memory = Memory::new(64);
    // SAFETY: all is inside the memory.
    unsafe {
        ok(cuda::cudaMemsetAsync(memory.0, 5, 64, per_thread()));
        ok(cuda::cudaStreamSynchronize(per_thread()));
        ok(cuda::cudaStreamQuery_ptsz(null_mut()));
        ok(cuda::cudaMemset_ptds(memory.0, 6, 32));
        let mut read = [0_u8; 64];
        ok(cuda::cudaMemcpy_ptds(
            read.as_mut_ptr().cast(),
            memory.0,
            64,
            2,
        ));
        assert_eq!((read[0], read[63]), (6, 5));
        let one = Dim3 { x: 1, y: 1, z: 1 };
        ok(cuda::cudaLaunchKernel_ptsz(
            host(&NOTHING),
            one,
            one,
            null_mut(),
            0,
            null_mut(),
        ));
        fails(
            cuda::cudaStreamDestroy(per_thread()),
            "cudaErrorInvalidResourceHandle",
        );
    }
}

/// Another thread's work does not move this thread's stream. The context is the program's own, which the
/// runtime takes as it is: nobody else has work in it.
#[test]
fn the_default_streams_of_threads_do_not_wait_for_each_other() {
    start();
    let mut context = null_mut();
    let (mut start, mut end): (CUevent, CUevent) = (null_mut(), null_mut());
    let mut milliseconds = -1.0;
    // SAFETY: handles and a number are written; the memory is there until the context is destroyed.
    unsafe {
        assert_eq!(cu::cuCtxCreate_v2(&mut context, 0, 0), 0);
        ok(cuda::cudaEventCreate(&mut start));
        ok(cuda::cudaEventCreate(&mut end));
        let mut at = null_mut();
        ok(cuda::cudaMalloc(&mut at, 1 << 20));
        ok(cuda::cudaEventRecord_ptsz(start, null_mut()));
        let (at, shared) = (at.expose_provenance(), context.expose_provenance());
        let others = std::thread::spawn(move || {
            cu::cuCtxSetCurrent(std::ptr::with_exposed_provenance_mut(shared));
            let at = std::ptr::with_exposed_provenance_mut(at);
            name(cuda::cudaMemsetAsync_ptsz(at, 1, 1 << 20, null_mut()))
        });
        assert_eq!(others.join().unwrap(), "cudaSuccess");
        ok(cuda::cudaEventRecord_ptsz(end, null_mut()));
        ok(cuda::cudaEventSynchronize(end));
        ok(cuda::cudaEventElapsedTime(&mut milliseconds, start, end));
        assert_eq!(milliseconds, 0.0);
        // This thread's own work does.
        let at = std::ptr::with_exposed_provenance_mut(at);
        ok(cuda::cudaMemsetAsync_ptsz(at, 1, 1 << 20, null_mut()));
        ok(cuda::cudaEventRecord_ptsz(end, null_mut()));
        ok(cuda::cudaEventSynchronize(end));
        ok(cuda::cudaEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds > 0.0);
        assert_eq!(cu::cuCtxDestroy_v2(context), 0);
    }
}

#[test]
fn events_measure_what_is_between_them() {
    let memory = Memory::new(1 << 20);
    let (mut start, mut end): (CUevent, CUevent) = (null_mut(), null_mut());
    let mut milliseconds = -1.0;
    // SAFETY: handles and a number are written.
    unsafe {
        ok(cuda::cudaEventCreate(&mut start));
        ok(cuda::cudaEventCreateWithFlags(&mut end, 1));
        let unrecorded = cuda::cudaEventElapsedTime(&mut milliseconds, start, end);
        fails(unrecorded, "cudaErrorInvalidResourceHandle");
        ok(cuda::cudaEventRecord(start, null_mut()));
        ok(cuda::cudaMemset(memory.0, 1, 1 << 20));
        ok(cuda::cudaEventRecordWithFlags(end, null_mut(), 0));
        fails(
            cuda::cudaEventRecordWithFlags(end, null_mut(), 2),
            "cudaErrorInvalidValue",
        );
        ok(cuda::cudaStreamWaitEvent(null_mut(), end, 0));
        ok(cuda::cudaEventSynchronize(end));
        ok(cuda::cudaEventQuery(end));
        ok(cuda::cudaEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds > 0.0, "{milliseconds}");
        ok(cuda::cudaEventDestroy(start));
        fails(
            cuda::cudaEventDestroy(start),
            "cudaErrorInvalidResourceHandle",
        );
        fails(
            cuda::cudaEventCreateWithFlags(&mut start, 0x80),
            "cudaErrorInvalidValue",
        );
    }
}

static CALLED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(data: *mut c_void) {
    CALLED.fetch_add(data.addr() as u32, Ordering::SeqCst);
}

unsafe extern "C" fn count_well(_stream: CUstream, status: cuda::Code, data: *mut c_void) {
    assert_eq!(status, 0);
    CALLED.fetch_add(data.addr() as u32, Ordering::SeqCst);
}

#[test]
fn functions_of_the_program_run_in_a_stream() {
    start();
    let data = std::ptr::without_provenance_mut(100);
    // SAFETY: the functions take any data.
    unsafe {
        ok(cuda::cudaLaunchHostFunc(null_mut(), Some(count), data));
        ok(cuda::cudaStreamAddCallback(
            null_mut(),
            Some(count_well),
            data,
            0,
        ));
        ok(cuda::cudaDeviceSynchronize());
        assert_eq!(CALLED.load(Ordering::SeqCst), 200);
        fails(
            cuda::cudaLaunchHostFunc(null_mut(), None, data),
            "cudaErrorInvalidValue",
        );
        let flags = cuda::cudaStreamAddCallback(null_mut(), Some(count_well), data, 1);
        fails(flags, "cudaErrorInvalidValue");
    }
}
