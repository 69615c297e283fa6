//! The library in front of NVIDIA's in `LD_LIBRARY_PATH`: it must not mistake itself for NVIDIA's driver.
#![cfg(target_os = "linux")]

use super::cuda::{Cuda, folder, run_child};

#[test]
#[ignore = "run by the other tests in a separate process"]
fn a_program() {
    let cuda = Cuda::open("libcuda.so.1".as_ref());
    println!("cuInit: {}", cuda.init());
}

/// Runs a program that finds the library by name, with these settings. Returns its stdout and stderr.
fn run_with_library_by_name(backend: &[(&str, &str)]) -> (String, String) {
    let folder = folder();
    let path = [("LD_LIBRARY_PATH", folder.path().to_str().unwrap())];
    let output = run_child("backend::a_program", &[&path, backend].concat());
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn gpu_backend_fails_with_the_library_in_the_way() {
    let (stdout, stderr) = run_with_library_by_name(&[("CUDA_BACKEND", "gpu")]);
    assert!(stdout.contains("cuInit: 100"), "{stdout}");
    assert!(
        stderr.contains("libcuda.so.1 is Warpbook's simulator library")
            && stderr.contains("CUDA_BACKEND=gpu"),
        "{stderr}"
    );
}

#[test]
fn default_backend_is_the_simulator() {
    let (stdout, stderr) = run_with_library_by_name(&[]);
    assert!(stdout.contains("cuInit: 0"), "{stdout}");
    let notice = "warpbook: running on the built-in simulator (NVIDIA H200, modelled)\n";
    assert_eq!(stderr, notice);
}
