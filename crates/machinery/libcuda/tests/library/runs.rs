//! A program that runs on the library alone.

use std::ffi::c_uint;

use super::cuda::{Cuda, child, file};

#[test]
#[ignore = "run by the other tests in a separate process"]
fn a_program() {
    let cuda = Cuda::open(&file());
    let mut count = 0;
    // SAFETY: its signature.
    let counted = unsafe {
        cuda.get::<unsafe extern "C" fn(*mut i32) -> i32>("cuDeviceGetCount")(&mut count)
    };
    assert_eq!((counted, count), (3, 0), "before cuInit");
    assert_eq!(cuda.init(), 0);
    // SAFETY: as above.
    let counted = unsafe {
        cuda.get::<unsafe extern "C" fn(*mut i32) -> i32>("cuDeviceGetCount")(&mut count)
    };
    assert_eq!((counted, count), (0, 1));
    assert_eq!(cuda.seven(), [7.0; 100]);
}

#[test]
fn a_kernel_is_loaded_launched_and_copied_back() {
    let ended = child("runs::a_program", &[("CUDA_BACKEND", "sim")]);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    assert!(!said.contains("warpbook:"), "{said}");
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn initialised_again() {
    let cuda = Cuda::open(&file());
    // SAFETY: its signature.
    let init = unsafe { cuda.get::<unsafe extern "C" fn(c_uint) -> i32>("cuInit") };
    // SAFETY: as above.
    let with = |flags| unsafe { init(flags) };
    assert_eq!(with(1), 1, "no such flag");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(with(0), 0));
        }
    });
    assert_eq!(cuda.seven(), [7.0; 100]);
    assert_eq!((with(0), with(1)), (0, 1));
    // What is there stays.
    assert_eq!(cuda.seven(), [7.0; 100]);
}

#[test]
fn it_is_initialised_once_however_often_and_from_whatever_thread() {
    let ended = child("runs::initialised_again", &[("CUDA_BACKEND", "sim")]);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
}
