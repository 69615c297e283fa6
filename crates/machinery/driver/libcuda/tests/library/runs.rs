//! A program that uses only this library.

use std::ffi::c_uint;

use super::cuda::{Cuda, file, run_child};

#[test]
#[ignore = "run by the other tests in a separate process"]
fn a_program() {
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.device_count(), (3, 0), "before cuInit");
    assert_eq!(cuda.init(), 0);
    assert_eq!(cuda.device_count(), (0, 1));
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
}

#[test]
fn programs_run_on_the_library() {
    let output = run_child("runs::a_program", &[("CUDA_BACKEND", "sim")]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(!stderr.contains("warpbook:"), "{stderr}");
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn initialized_again() {
    let cuda = Cuda::open(&file());
    let init_with = |flags| call!(cuda, cuInit(flags => c_uint));
    assert_eq!(init_with(1), 1, "no such flag");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(init_with(0), 0));
        }
    });
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
    assert_eq!((init_with(0), init_with(1)), (0, 1));
    // Existing state is not affected.
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
}

#[test]
fn repeated_initialization_from_many_threads_succeeds() {
    let output = run_child("runs::initialized_again", &[("CUDA_BACKEND", "sim")]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}
