//! Streams, events and host functions.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::functions as cu;
use cuda_driver::types::CUlaunchAttributeValue;
use cuda_runtime as cuda;
use cust_raw::{CUevent, CUstream};

use super::program::{EMPTY, Memory, fails, get, host, name, ok, start};
use cuda_runtime::types::Dim3;

/// `cudaStreamPerThread`.
fn per_thread() -> CUstream {
    std::ptr::without_provenance_mut(2)
}

/// `cudaStreamAttributeAccessPolicyWindow`, the memory that should persist in the L2 cache.
const ACCESS_POLICY_WINDOW: c_int = 1;

#[test]
fn stream_attributes_are_stored_and_copied() {
    start();
    let mut stream = null_mut();
    let mut other = null_mut();
    let value = CUlaunchAttributeValue([7; 16]);
    let mut actual = CUlaunchAttributeValue([1; 16]);
    // SAFETY: all out-parameters are local variables.
    unsafe {
        ok(cuda::cudaStreamCreate(&mut stream));
        ok(cuda::cudaStreamCreate(&mut other));
        ok(cuda::cudaStreamGetAttribute(
            stream,
            ACCESS_POLICY_WINDOW,
            &mut actual,
        ));
        assert_eq!(actual.0, [0; 16]);
        ok(cuda::cudaStreamSetAttribute(
            stream,
            ACCESS_POLICY_WINDOW,
            &value,
        ));
        ok(cuda::cudaStreamCopyAttributes(other, stream));
        ok(cuda::cudaStreamGetAttribute(
            other,
            ACCESS_POLICY_WINDOW,
            &mut actual,
        ));
        assert_eq!(actual.0, value.0);
        let unknown = cuda::cudaStreamSetAttribute(stream, 77, &value);
        fails(unknown, "cudaErrorInvalidValue");
        ok(cuda::cudaStreamDestroy(stream));
        ok(cuda::cudaStreamDestroy(other));
    }
}

#[test]
fn a_stream_is_created_queried_and_destroyed() {
    start();
    let mut stream = null_mut();
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: all out-parameters are local variables.
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
    // SAFETY: every access lies inside the 64 bytes.
    unsafe {
        ok(cuda::cudaMemsetAsync(memory.0, 5, 64, per_thread()));
        ok(cuda::cudaStreamSynchronize(per_thread()));
        ok(cuda::cudaStreamQuery_ptsz(null_mut()));
        ok(cuda::cudaMemset_ptds(memory.0, 6, 32));
        let mut output = [0_u8; 64];
        ok(cuda::cudaMemcpy_ptds(
            output.as_mut_ptr().cast(),
            memory.0,
            64,
            2,
        ));
        assert_eq!((output[0], output[63]), (6, 5));
        let unit = Dim3 { x: 1, y: 1, z: 1 };
        ok(cuda::cudaLaunchKernel_ptsz(
            host(&EMPTY),
            unit,
            unit,
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

/// Work of another thread does not delay this thread's stream. The test creates a context of its own, which
/// the runtime uses, so that no other test has work in it.
#[test]
fn per_thread_default_streams_do_not_wait_for_each_other() {
    start();
    let mut context = null_mut();
    let (mut start, mut end): (CUevent, CUevent) = (null_mut(), null_mut());
    let mut milliseconds = -1.0;
    // SAFETY: all out-parameters are local variables; the memory lives until the context is destroyed.
    unsafe {
        assert_eq!(cu::cuCtxCreate_v2(&mut context, 0, 0), 0);
        ok(cuda::cudaEventCreate(&mut start));
        ok(cuda::cudaEventCreate(&mut end));
        let mut ptr = null_mut();
        ok(cuda::cudaMalloc(&mut ptr, 1 << 20));
        ok(cuda::cudaEventRecord_ptsz(start, null_mut()));
        let (ptr, context_address) = (ptr.expose_provenance(), context.expose_provenance());
        let other_thread = std::thread::spawn(move || {
            cu::cuCtxSetCurrent(std::ptr::with_exposed_provenance_mut(context_address));
            let ptr = std::ptr::with_exposed_provenance_mut(ptr);
            name(cuda::cudaMemsetAsync_ptsz(ptr, 1, 1 << 20, null_mut()))
        });
        assert_eq!(other_thread.join().unwrap(), "cudaSuccess");
        ok(cuda::cudaEventRecord_ptsz(end, null_mut()));
        ok(cuda::cudaEventSynchronize(end));
        ok(cuda::cudaEventElapsedTime(&mut milliseconds, start, end));
        assert_eq!(milliseconds, 0.0);
        // Work of this thread does.
        let ptr = std::ptr::with_exposed_provenance_mut(ptr);
        ok(cuda::cudaMemsetAsync_ptsz(ptr, 1, 1 << 20, null_mut()));
        ok(cuda::cudaEventRecord_ptsz(end, null_mut()));
        ok(cuda::cudaEventSynchronize(end));
        ok(cuda::cudaEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds > 0.0);
        assert_eq!(cu::cuCtxDestroy_v2(context), 0);
    }
}

#[test]
fn events_measure_the_time_between_them() {
    let memory = Memory::new(1 << 20);
    let (mut start, mut end): (CUevent, CUevent) = (null_mut(), null_mut());
    let mut milliseconds = -1.0;
    // SAFETY: all out-parameters are local variables.
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

unsafe extern "C" fn count_callback(_stream: CUstream, status: cuda::Code, data: *mut c_void) {
    assert_eq!(status, 0);
    CALLED.fetch_add(data.addr() as u32, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_stream_order() {
    start();
    let data = std::ptr::without_provenance_mut(100);
    // SAFETY: the callbacks only use the address of `data`.
    unsafe {
        ok(cuda::cudaLaunchHostFunc(null_mut(), Some(count), data));
        ok(cuda::cudaStreamAddCallback(
            null_mut(),
            Some(count_callback),
            data,
            0,
        ));
        ok(cuda::cudaDeviceSynchronize());
        assert_eq!(CALLED.load(Ordering::SeqCst), 200);
        fails(
            cuda::cudaLaunchHostFunc(null_mut(), None, data),
            "cudaErrorInvalidValue",
        );
        let flags = cuda::cudaStreamAddCallback(null_mut(), Some(count_callback), data, 1);
        fails(flags, "cudaErrorInvalidValue");
    }
}
