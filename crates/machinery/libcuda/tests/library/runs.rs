//! A program that runs on the library alone.

use super::cuda::{Cuda, child, file};

#[test]
#[ignore = "the other tests run it in a process of its own"]
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
