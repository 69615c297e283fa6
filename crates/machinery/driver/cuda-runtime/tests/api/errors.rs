//! Error names and texts, and the last error of each thread.

use std::collections::BTreeMap;
use std::ffi::CStr;

use cuda_runtime as cuda;

use super::program::*;

/// The replies of NVIDIA's library for each number, recorded by `scripts/runtime-errors`.
const RECORDED: &str = include_str!("errors.txt");

#[test]
fn names_and_texts_match_nvidias_library() {
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
        // SAFETY: the functions return static strings.
        let actual = unsafe {
            [
                CStr::from_ptr(cuda::cudaGetErrorName(number)),
                CStr::from_ptr(cuda::cudaGetErrorString(number)),
            ]
        };
        let actual = actual.map(|text| text.to_str().unwrap());
        let expected_unknown = ("unrecognized error code", "unrecognized error code");
        let expected = recorded.get(&number).copied().unwrap_or(expected_unknown);
        assert_eq!((actual[0], actual[1]), expected, "{number}");
    }
}

#[test]
fn the_header_has_the_same_names_and_numbers() {
    let header = include_str!("../../../../../../kernels/include/warpbook/runtime_errors.h");
    let declared = header.lines().filter_map(|line| {
        let (name, number) = line.trim().trim_end_matches(',').split_once(" = ")?;
        Some((number.parse().ok()?, name))
    });
    let declared: Vec<(i32, &str)> = declared.collect();
    let defined = cuda::ERRORS.iter();
    let defined: Vec<_> = defined
        .map(|(number, name, _)| (*number, name.to_str().unwrap()))
        .collect();
    assert_eq!(declared, defined);
}

/// Each of the driver's errors is one of the runtime's, or maps to `cudaErrorUnknown`.
#[test]
fn the_drivers_errors_have_the_runtimes_numbers() {
    start();
    let mut undefined = Vec::new();
    for number in 0..1000 {
        let mut text = std::ptr::null();
        // SAFETY: `text` is writable and receives a static string.
        if unsafe { cuda_driver::functions::cuGetErrorName(number, &mut text) } != 0 {
            continue;
        }
        if cuda::ERRORS.iter().all(|(defined, ..)| *defined != number) {
            // SAFETY: `text` is the static string written above.
            undefined.push(unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        }
    }
    // The second error was added by CUDA 13.
    let expected_unknown = [
        "CUDA_ERROR_CONTEXT_ALREADY_CURRENT",
        "CUDA_ERROR_KEY_ROTATION",
    ];
    assert_eq!(undefined, expected_unknown);
}

#[test]
fn the_last_error_stays_until_it_is_fetched() {
    start();
    let rejected = code!(cudaMalloc(std::ptr::null_mut(), 4));
    assert_eq!(name(rejected), "cudaErrorInvalidValue");
    let _memory = Memory::new(4);
    assert_eq!(name(cuda::cudaPeekAtLastError()), "cudaErrorInvalidValue");
    // Every thread has its own last error.
    let other_thread = std::thread::spawn(|| name(cuda::cudaPeekAtLastError()));
    assert_eq!(other_thread.join().unwrap(), "cudaSuccess");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaErrorInvalidValue");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
    calls! {
        cudaSetDevice(7) => "cudaErrorInvalidDevice";
        cudaSetDevice(0);
    }
}

#[test]
fn unimplemented_functions_return_not_supported() {
    start();
    calls! {
        cudaFreeMipmappedArray(std::ptr::null_mut()) => "cudaErrorNotSupported";
    }
}
