//! Streams, events and host functions.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::functions as cu;
use cuda_driver::types::{CUevent, CUlaunchAttributeValue, CUstream};
use cuda_runtime as cuda;

use super::program::*;
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
    // The address, the size, the fraction of hits, and the properties of hits and misses.
    let mut value = CUlaunchAttributeValue([0; 16]);
    value.0[..7].copy_from_slice(&[4096, 0, 256, 0, 0.5_f32.to_bits(), 2, 1]);
    let mut actual = CUlaunchAttributeValue([1; 16]);
    calls! {
        cudaStreamCreate(&mut stream);
        cudaStreamCreate(&mut other);
        cudaStreamGetAttribute(stream, ACCESS_POLICY_WINDOW, &mut actual);
    }
    assert_eq!(actual.0, [0; 16]);
    calls! {
        cudaStreamSetAttribute(stream, ACCESS_POLICY_WINDOW, &value);
        cudaStreamCopyAttributes(other, stream);
        cudaStreamGetAttribute(other, ACCESS_POLICY_WINDOW, &mut actual);
    }
    assert_eq!(actual.0, value.0);
    value.0[4] = 1.5_f32.to_bits();
    calls! {
        cudaStreamSetAttribute(stream, ACCESS_POLICY_WINDOW, &value) => "cudaErrorInvalidValue";
        cudaStreamSetAttribute(stream, 77, &value) => "cudaErrorInvalidValue";
        cudaStreamDestroy(stream);
        cudaStreamDestroy(other);
    }
}

#[test]
fn a_stream_is_created_queried_and_destroyed() {
    start();
    let mut stream = null_mut();
    let (mut least, mut greatest) = (0, 0);
    calls! { cudaDeviceGetStreamPriorityRange(&mut least, &mut greatest); }
    assert!(greatest < least);
    calls! { cudaStreamCreateWithPriority(&mut stream, 1, greatest); }
    assert_eq!(
        get::<c_int>(|to| code!(cudaStreamGetPriority(stream, to))),
        greatest
    );
    assert_eq!(get::<u32>(|to| code!(cudaStreamGetFlags(stream, to))), 1);
    assert_eq!(get::<c_int>(|to| code!(cudaStreamGetDevice(stream, to))), 0);
    assert_eq!(
        get::<c_int>(|to| code!(cudaStreamIsCapturing(stream, to))),
        0
    );
    calls! {
        cudaStreamQuery(stream);
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
        cudaStreamSynchronize(stream) => "cudaErrorInvalidResourceHandle";
        cudaStreamCreateWithFlags(&mut stream, 8) => "cudaErrorInvalidValue";
        cudaStreamDestroy(null_mut()) => "cudaErrorInvalidResourceHandle";
    }
}

#[test]
fn each_thread_has_its_own_default_stream() {
    let memory = Memory::new(64);
    calls! {
        cudaMemsetAsync(memory.0, 5, 64, per_thread());
        cudaStreamSynchronize(per_thread());
        cudaStreamQuery_ptsz(null_mut());
        cudaMemset_ptds(memory.0, 6, 32);
    }
    let mut output = [0_u8; 64];
    calls! { cudaMemcpy_ptds(output.as_mut_ptr().cast(), memory.0, 64, 2); }
    assert_eq!((output[0], output[63]), (6, 5));
    let unit = Dim3 { x: 1, y: 1, z: 1 };
    calls! {
        cudaLaunchKernel_ptsz(host(&EMPTY), unit, unit, null_mut(), 0, null_mut());
        cudaStreamDestroy(per_thread()) => "cudaErrorInvalidResourceHandle";
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
    // SAFETY: `context` is writable.
    unsafe {
        assert_eq!(cu::cuInit(0), 0);
        assert_eq!(cu::cuCtxCreate_v2(&mut context, 0, 0), 0);
    }
    calls! {
        cudaEventCreate(&mut start);
        cudaEventCreate(&mut end);
    }
    let mut ptr = null_mut();
    calls! {
        cudaMalloc(&mut ptr, 1 << 20);
        cudaEventRecord_ptsz(start, null_mut());
    }
    let (ptr, context_address) = (ptr.expose_provenance(), context.expose_provenance());
    let other_thread = std::thread::spawn(move || {
        // SAFETY: the driver looks up handles.
        unsafe { cu::cuCtxSetCurrent(std::ptr::with_exposed_provenance_mut(context_address)) };
        let ptr = std::ptr::with_exposed_provenance_mut(ptr);
        name(code!(cudaMemsetAsync_ptsz(ptr, 1, 1 << 20, null_mut())))
    });
    assert_eq!(other_thread.join().unwrap(), "cudaSuccess");
    calls! {
        cudaEventRecord_ptsz(end, null_mut());
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&mut milliseconds, start, end);
    }
    assert_eq!(milliseconds, 0.0);
    // Work of this thread does.
    let ptr = std::ptr::with_exposed_provenance_mut(ptr);
    calls! {
        cudaMemsetAsync_ptsz(ptr, 1, 1 << 20, null_mut());
        cudaEventRecord_ptsz(end, null_mut());
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&mut milliseconds, start, end);
    }
    assert!(milliseconds > 0.0);
    // SAFETY: no other thread uses the context.
    assert_eq!(unsafe { cu::cuCtxDestroy_v2(context) }, 0);
}

#[test]
fn events_measure_the_time_between_them() {
    let memory = Memory::new(1 << 20);
    let (mut start, mut end): (CUevent, CUevent) = (null_mut(), null_mut());
    let mut milliseconds = -1.0;
    calls! {
        cudaEventCreate(&mut start);
        cudaEventCreateWithFlags(&mut end, 1);
        cudaEventElapsedTime(&mut milliseconds, start, end) => "cudaErrorInvalidResourceHandle";
        cudaEventRecord(start, null_mut());
        cudaMemset(memory.0, 1, 1 << 20);
        cudaEventRecordWithFlags(end, null_mut(), 0);
        cudaEventRecordWithFlags(end, null_mut(), 2) => "cudaErrorInvalidValue";
        cudaStreamWaitEvent(null_mut(), end, 0);
        cudaEventSynchronize(end);
        cudaEventQuery(end);
        cudaEventElapsedTime(&mut milliseconds, start, end);
    }
    assert!(milliseconds > 0.0, "{milliseconds}");
    calls! {
        cudaEventDestroy(start);
        cudaEventDestroy(start) => "cudaErrorInvalidResourceHandle";
        cudaEventCreateWithFlags(&mut start, 0x80) => "cudaErrorInvalidValue";
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
    calls! {
        cudaLaunchHostFunc(null_mut(), Some(count), data);
        cudaStreamAddCallback(null_mut(), Some(count_callback), data, 0);
        cudaDeviceSynchronize();
    }
    assert_eq!(CALLED.load(Ordering::SeqCst), 200);
    calls! {
        cudaLaunchHostFunc(null_mut(), None, data) => "cudaErrorInvalidValue";
        cudaStreamAddCallback(null_mut(), Some(count_callback), data, 1)
            => "cudaErrorInvalidValue";
    }
}
