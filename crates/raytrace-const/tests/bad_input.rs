//! Everything a user can get wrong: one message that says what, where and what to do; no panic,
//! and no picture.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// Runs the program in `folder`, expects it to fail with `code` and to leave `folder` as it was;
/// returns what it said.
fn fails_in(folder: &Path, backend: &str, code: i32, arguments: &[&str]) -> String {
    fails_with(&[("CUDA_BACKEND", backend)], folder, code, arguments)
}

/// The same with these environment variables.
fn fails_with(variables: &[(&str, &str)], folder: &Path, code: i32, arguments: &[&str]) -> String {
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = names();
    let output = Command::new(env!("CARGO_BIN_EXE_raytrace-const"))
        .current_dir(folder)
        .envs(variables.iter().copied())
        .args(arguments)
        .assert()
        .code(code)
        .get_output()
        .clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    for panic in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        assert!(!said.contains(panic), "{said}");
    }
    assert_eq!(output.stdout, b"", "a table in spite of the error");
    assert_eq!(names(), before, "files were left behind");
    said
}

/// The same in an empty folder on the simulator; what it says has to contain all of `wanted`.
fn says(code: i32, arguments: &str, wanted: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let said = fails_in(folder.path(), "sim", code, &arguments);
    for part in wanted {
        assert!(said.contains(part), "no '{part}' in:\n{said}");
    }
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    for flag in ["--width", "--height", "--spheres", "--repeat"] {
        for value in ["0", "-5", "many", "1.5", "99999999999999999999"] {
            says(2, &format!("{flag} {value}"), &[flag, value]);
        }
    }
    says(2, "--seed -1", &["--seed", "-1"]);
    says(2, "--width", &["--width", "value is required"]);
}

#[test]
fn an_unknown_variant_gets_the_list() {
    let all = ["texture", "global", "constant", "unrolled", "all"];
    says(2, "--variant texture", &all);
}

#[test]
fn an_unknown_flag() {
    says(2, "--depth 3", &["--depth"]);
}

#[test]
fn blocks_that_are_none() {
    for malformed in ["16", "16x", "x", "16x16x1", "axb", "16X16"] {
        says(2, &format!("--block {malformed}"), &[malformed, "16x16"]);
    }
    for zero in ["0x16", "16x0"] {
        says(
            2,
            &format!("--block {zero}"),
            &[zero, "at least one thread"],
        );
    }
}

#[test]
fn blocks_over_the_devices_limit() {
    says(
        1,
        "--block 32x33",
        &["--block 32x33", "1056 threads", "1024"],
    );
    let product_past_32_bits = "--block 65536x65536";
    says(1, product_past_32_bits, &["4294967296 threads", "1024"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let tall = "--width 1 --height 70000 --block 16x1";
    says(1, tall, &["1x70000 blocks", "65535", "--block"]);
}

#[test]
fn more_spheres_than_constant_memory_holds() {
    let both = &["2340", "2048", "--variant global"];
    says(1, "--spheres 2341 --variant constant", both);
    says(1, "--spheres 2341 --variant constant", &["at most 2340"]);
    says(1, "--spheres 2049 --variant unrolled", &["at most 2048"]);
    says(1, "--spheres 2049", &["at most 2048"]);
}

#[test]
fn a_picture_too_large_for_memory() {
    let huge = "--width 1000000 --height 1000000 --block 16x64";
    says(1, huge, &["needs 4000.0 GB", "memory", "is free"]);
}

#[test]
fn paths_that_cannot_be_written() {
    says(1, "--out missing/a.png", &["missing", "there is no folder"]);
    says(1, "--out picture.jpg", &["picture.jpg", ".png"]);

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.png")).unwrap();
    let said = fails_in(folder.path(), "sim", 1, &["--out", "folder.png"]);
    assert!(said.contains("is a folder"), "{said}");
    let said = fails_in(folder.path(), "sim", 2, &["--out", ""]);
    assert!(said.contains("--out"), "{said}");
    fs::write(folder.path().join("file"), "").unwrap();
    let said = fails_in(folder.path(), "sim", 1, &["--out", "file/a.png"]);
    assert!(said.contains("there is no folder"), "{said}");
}

/// Even root cannot make files in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_without_permission() {
    says(1, "--out /proc/a.png", &["/proc", "cannot write"]);
}

#[test]
fn a_backend_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let said = fails_in(folder.path(), "cpu", 1, &[]);
    for part in ["CUDA_BACKEND", "cpu", "gpu", "sim"] {
        assert!(said.contains(part), "no '{part}' in:\n{said}");
    }
}

#[test]
fn a_time_limit_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_TIME_LIMIT", "soon")];
    let said = fails_with(&variables, folder.path(), 1, &[]);
    assert!(said.contains("CUDA_SIM_TIME_LIMIT"), "{said}");
}

/// Where there is a GPU this has nothing to show.
#[test]
fn the_gpu_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_raytrace-const"))
        .current_dir(folder.path())
        .env("CUDA_BACKEND", "gpu")
        .args(["--width", "1", "--height", "1"])
        .output()
        .unwrap();
    if output.status.success() {
        assert!(folder.path().join("raytrace.png").is_file());
        return;
    }
    let said = fails_in(folder.path(), "gpu", 1, &[]);
    for part in ["CUDA_BACKEND=gpu", "NVIDIA", "CUDA_BACKEND=sim"] {
        assert!(said.contains(part), "no '{part}' in:\n{said}");
    }
}
