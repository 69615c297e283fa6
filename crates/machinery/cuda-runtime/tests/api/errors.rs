//! Errors: their names and texts, and which of them a thread keeps.

use std::collections::BTreeMap;
use std::ffi::CStr;

use cuda_runtime as cuda;

use super::program::{Memory, fails, name, ok, start};

/// What NVIDIA's library answers for each number: `scripts/runtime-errors` writes it.
const RECORDED: &str = include_str!("errors.txt");

#[test]
fn names_and_texts_are_those_of_nvidias_library() {
    let rows = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let recorded: BTreeMap<i32, (&str, &str)> = rows
        .map(|line| {
            let mut parts = line.split('\t');
            let number = parts.next().unwrap().parse().unwrap();
            (number, (parts.next().unwrap(), parts.next().unwrap()))
        })
        .collect();
    assert!(recorded.len() > 130, "{}", recorded.len());
    for number in -1..11_000 {
        // SAFETY: strings that last.
        let told = unsafe {
            [
                CStr::from_ptr(cuda::cudaGetErrorName(number)),
                CStr::from_ptr(cuda::cudaGetErrorString(number)),
            ]
        };
        let told = told.map(|text| text.to_str().unwrap());
        let unknown = ("unrecognized error code", "unrecognized error code");
        let expected = recorded.get(&number).copied().unwrap_or(unknown);
        assert_eq!((told[0], told[1]), expected, "{number}");
    }
}

#[test]
fn the_header_has_the_same_names_and_numbers() {
    let header = include_str!("../../../../../kernels/include/warpbook/runtime_errors.h");
    let named = header.lines().filter_map(|line| {
        let (name, number) = line.trim().trim_end_matches(',').split_once(" = ")?;
        Some((number.parse().ok()?, name))
    });
    let named: Vec<(i32, &str)> = named.collect();
    let known = cuda::ERRORS.iter();
    let known: Vec<_> = known
        .map(|(number, name, _)| (*number, name.to_str().unwrap()))
        .collect();
    assert_eq!(named, known);
}

/// Each of the driver's errors is one of the runtime's, or an unknown one.
#[test]
fn the_drivers_errors_have_the_runtimes_numbers() {
    start();
    let mut different = Vec::new();
    for number in 0..1000 {
        let mut text = std::ptr::null();
        // SAFETY: the driver writes the address of a string that lasts.
        if unsafe { cuda_driver::functions::cuGetErrorName(number, &mut text) } != 0 {
            continue;
        }
        if cuda::ERRORS.iter().all(|(known, ..)| *known != number) {
            // SAFETY: as above.
            different.push(unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        }
    }
    // The second is CUDA 13's.
    let unknown = [
        "CUDA_ERROR_CONTEXT_ALREADY_CURRENT",
        "CUDA_ERROR_KEY_ROTATION",
    ];
    assert_eq!(different, unknown);
}

#[test]
fn the_last_error_is_kept_until_it_is_asked_for() {
    start();
    // SAFETY: a null pointer is refused.
    let refused = unsafe { cuda::cudaMalloc(std::ptr::null_mut(), 4) };
    assert_eq!(name(refused), "cudaErrorInvalidValue");
    let _memory = Memory::new(4);
    assert_eq!(name(cuda::cudaPeekAtLastError()), "cudaErrorInvalidValue");
    // Another thread has its own.
    let others = std::thread::spawn(|| name(cuda::cudaPeekAtLastError()));
    assert_eq!(others.join().unwrap(), "cudaSuccess");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaErrorInvalidValue");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
    // SAFETY: a number that is no device's is refused, and success is not kept.
    unsafe {
        fails(cuda::cudaSetDevice(7), "cudaErrorInvalidDevice");
        ok(cuda::cudaSetDevice(0));
    }
}

#[test]
fn what_is_missing_is_not_supported() {
    start();
    // SAFETY: these do nothing.
    unsafe {
        fails(
            cuda::cudaIpcCloseMemHandle(std::ptr::null_mut()),
            "cudaErrorNotSupported",
        );
        fails(
            cuda::cudaFreeMipmappedArray(std::ptr::null_mut()),
            "cudaErrorNotSupported",
        );
    }
}
