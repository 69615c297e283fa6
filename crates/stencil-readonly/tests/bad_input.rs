//! Everything a user can get wrong: one message that says what, where and what to do; no panic.

use chapter_test::Chapter;

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_stencil-readonly"))
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    for flag in ["--size", "--block", "--repeat"] {
        for value in ["0", "-5", "many", "1.5", "99999999999999999999"] {
            chapter().refuses(2, &format!("{flag} {value}"), &[flag, value]);
        }
        chapter().refuses(2, flag, &[flag, "value is required"]);
    }
    chapter().refuses(2, "--size 1073741825", &["--size", "1073741824"]);
}

#[test]
fn a_block_without_threads_enough_for_the_halo() {
    chapter().refuses(2, "--block 3", &["--block", "fetch the halo", "at least 4"]);
}

#[test]
fn an_unknown_flag() {
    chapter().refuses(2, "--radius 3", &["--radius"]);
    chapter().refuses(2, "1000", &["unexpected argument '1000'"]);
}

#[test]
fn a_block_over_the_devices_limit() {
    for block in ["1025", "4294967295"] {
        let wanted = format!("--block {block}");
        chapter().refuses(1, &wanted, &[&wanted, "1024"]);
    }
}

/// The largest array takes 30 GB on the simulator: where a computer has those there is nothing to
/// show.
#[cfg(target_os = "linux")]
#[test]
fn an_array_too_large_for_memory() {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap();
    let mut words = memory
        .split_whitespace()
        .skip_while(|&word| word != "MemAvailable:");
    let available_kb: u64 = words.nth(1).unwrap().parse().unwrap();
    if available_kb < 29_000_000 {
        chapter().refuses(1, "--size 1073741824", &["this array", "memory", "is free"]);
    }
}

#[test]
fn a_backend_that_is_none() {
    let chapter = chapter().with("CUDA_BACKEND", "cpu");
    chapter.refuses(1, "", &["CUDA_BACKEND", "cpu", "gpu", "sim"]);
}

#[test]
fn the_gpu_where_there_is_none() {
    chapter().needs_a_gpu_when_asked_for_one("--size 1");
}
