//! Everything a user can get wrong: one message that says what, where and what to do; no panic.

use chapter_test::Chapter;

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_vector-add"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    for flag in ["--count", "--block", "--repeat"] {
        for value in ["0", "-5", "many", "1.5", "99999999999999999999"] {
            says(2, &format!("{flag} {value}"), &[flag, value]);
        }
    }
    says(2, "--seed -1", &["--seed", "-1"]);
    says(2, "--count", &["--count", "value is required"]);
}

#[test]
fn sizes_over_the_limit() {
    says(2, "--count 1099511627777", &["--count", "1099511627776"]);
    says(2, "--block 4294967296", &["--block", "4294967296"]);
}

#[test]
fn blocks_over_the_devices_limit() {
    says(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let long = "--count 4294967296 --block 1";
    says(1, long, &["4294967296 blocks", "2147483647", "--block"]);
}

#[test]
fn vectors_too_large_for_memory() {
    let huge = "--count 1000000000000 --block 1024";
    says(1, huge, &["this sum needs 12000.0 GB", "is free"]);
}

#[test]
fn an_unknown_flag() {
    says(2, "--depth 3", &["--depth"]);
    says(2, "17", &["17"]);
}

#[test]
fn a_backend_that_is_none() {
    let wanted = ["CUDA_BACKEND", "cpu", "gpu", "sim"];
    chapter()
        .with("CUDA_BACKEND", "cpu")
        .refuses(1, "", &wanted);
}

#[test]
fn the_gpu_where_there_is_none() {
    chapter().needs_a_gpu_when_asked_for_one("--count 1");
}
