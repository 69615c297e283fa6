//! The library in front of NVIDIA's, as `LD_LIBRARY_PATH` puts it: it must not take itself for NVIDIA's.
#![cfg(target_os = "linux")]

use super::cuda::{Cuda, child, folder};

#[test]
#[ignore = "run by the other tests in a separate process"]
fn a_program() {
    let cuda = Cuda::open("libcuda.so.1".as_ref());
    println!("cuInit: {}", cuda.init());
}

/// What a program says and is told that finds the library by its name, with `CUDA_BACKEND` as it is here.
fn found_by_name(backend: &[(&str, &str)]) -> (String, String) {
    let folder = folder();
    let path = [("LD_LIBRARY_PATH", folder.path().to_str().unwrap())];
    let ended = child("own::a_program", &[&path, backend].concat());
    assert!(ended.status.success(), "{ended:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(ended.stdout), text(ended.stderr))
}

#[test]
fn asked_for_a_gpu_it_says_that_it_is_in_the_way() {
    let (stdout, stderr) = found_by_name(&[("CUDA_BACKEND", "gpu")]);
    assert!(stdout.contains("cuInit: 100"), "{stdout}");
    assert!(
        stderr.contains("libcuda.so.1 is Warpbook's own") && stderr.contains("CUDA_BACKEND=gpu"),
        "{stderr}"
    );
}

#[test]
fn asked_for_nothing_it_simulates() {
    let (stdout, stderr) = found_by_name(&[]);
    assert!(stdout.contains("cuInit: 0"), "{stdout}");
    assert!(
        stderr.contains("running on the built-in simulator"),
        "{stderr}"
    );
}
