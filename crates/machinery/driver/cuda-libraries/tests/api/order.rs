//! Calls in streams: their order, their capture in graphs, and operands outside of allocations.

use std::ptr::null_mut;

use cuda_libraries::cublas::*;
use cuda_runtime::*;

use crate::device::{Array, Handle};

#[test]
fn handle_is_destroyed_after_its_stream() {
    let mut handle = 0;
    let mut stream = null_mut();
    // SAFETY: the pointers are writable.
    unsafe {
        assert_eq!(cublasCreate_v2(&mut handle), 0);
        assert_eq!(cudaStreamCreateWithFlags(&mut stream, 1), 0);
        assert_eq!(cublasSetStream_v2(handle, stream), 0);
        assert_eq!(cudaStreamDestroy(stream), 0);
        assert_eq!(cublasDestroy_v2(handle), 0);
    }
}

#[test]
fn calls_follow_earlier_work_and_are_captured() {
    let handle = Handle::new();
    let x = Array::new(&[1.0f32; 64]);
    let two = 2.0f32;
    let mut stream = null_mut();
    // SAFETY: the pointers are valid.
    unsafe {
        // Other tests use the default stream, and allocate memory during the capture.
        assert_eq!(cudaStreamCreateWithFlags(&mut stream, 1), 0);
        assert_eq!(cublasSetStream_v2(handle.0, stream), 0);
        assert_eq!(cudaMemsetAsync(x.address.cast(), 0x40, 256, stream), 0);
        assert_eq!(cublasSscal_v2(handle.0, 64, &two, x.address, 1), 0);
        assert_eq!(x.read(), [2.0 * f32::from_bits(0x4040_4040); 64]);

        let (mut graph, mut executable) = (null_mut(), null_mut());
        assert_eq!(cudaStreamBeginCapture(stream, 2), 0);
        assert_eq!(cublasSscal_v2(handle.0, 32, &two, x.address, 2), 0);
        assert_eq!(cudaStreamEndCapture(stream, &mut graph), 0);
        assert_eq!(
            x.read()[..2],
            [2.0 * f32::from_bits(0x4040_4040); 2],
            "not launched"
        );
        assert_eq!(cudaGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
        for _ in 0..2 {
            assert_eq!(cudaGraphLaunch(executable, stream), 0);
        }
        let scaled = f32::from_bits(0x4040_4040);
        assert_eq!(
            x.read()[..4],
            [8.0 * scaled, 2.0 * scaled, 8.0 * scaled, 2.0 * scaled]
        );
        assert_eq!(cudaGraphExecDestroy(executable), 0);
        assert_eq!(cudaGraphDestroy(graph), 0);
        assert_eq!(cudaStreamDestroy(stream), 0);
    }
}

#[test]
fn calls_take_modelled_time() {
    let handle = Handle::new();
    let x = Array::new(&vec![1.0f64; 1 << 16]);
    let (mut start, mut end, mut milliseconds) = (null_mut(), null_mut(), f32::NAN);
    let one = 1.0f64;
    // SAFETY: the pointers are valid.
    unsafe {
        assert_eq!(cudaEventCreate(&mut start), 0);
        assert_eq!(cudaEventCreate(&mut end), 0);
        assert_eq!(cudaEventRecord(start, null_mut()), 0);
        let gemm = cublasDgemm_v2(
            handle.0, 0, 1, 256, 256, 256, &one, x.address, 256, x.address, 256, &one, x.address,
            256,
        );
        assert_eq!(gemm, 0);
        assert_eq!(cudaEventRecord(end, null_mut()), 0);
        assert_eq!(cudaEventSynchronize(end), 0);
        assert_eq!(cudaEventElapsedTime(&mut milliseconds, start, end), 0);
    }
    assert!(milliseconds > 1e-4 && milliseconds < 10.0, "{milliseconds}");
}
