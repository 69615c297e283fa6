//! Everything a user can get wrong: one message that says what, where and what to do; no panic.

use chapter_test::Chapter;

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_add-constant"))
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    for flag in ["--sums", "--block", "--repeat"] {
        for value in ["0", "-5", "many", "1.5", "99999999999999999999"] {
            chapter().refuses(2, &format!("{flag} {value}"), &[flag, value]);
        }
        chapter().refuses(2, flag, &[flag, "value is required"]);
    }
    chapter().refuses(2, "--seed -1", &["--seed", "-1"]);
    chapter().refuses(2, "--sums 2147483649", &["--sums", "2147483648"]);
}

#[test]
fn the_notes_arguments_are_as_strict() {
    for value in ["0", "-5", "many"] {
        chapter().refuses(2, &format!("pseudo_random {value}"), &["BLOCK_SIZE", value]);
        chapter().refuses(
            2,
            &format!("pseudo_random 32 {value}"),
            &["NUM_SUMS", value],
        );
    }
    chapter().refuses(2, "pseudo_random 32 1 1", &["unexpected argument"]);
}

#[test]
fn an_unknown_pattern_gets_the_list() {
    let all = [
        "every_other_day",
        "one_access_per_block",
        "one_access_per_warp",
        "one_access_per_thread",
        "pseudo_random",
    ];
    chapter().refuses(2, "every_other_day", &all);
    chapter().refuses(2, "--pattern every_other_day", &all);
}

#[test]
fn both_forms_of_one_argument() {
    for (both, flag) in [
        ("pseudo_random --pattern pseudo_random", "--pattern"),
        ("pseudo_random 32 --block 32", "--block"),
        ("pseudo_random 32 17 --sums 17", "--sums"),
    ] {
        chapter().refuses(2, both, &["cannot be used with", flag]);
    }
}

#[test]
fn an_unknown_flag() {
    chapter().refuses(2, "--depth 3", &["--depth"]);
}

#[test]
fn a_block_over_the_devices_limit() {
    chapter().refuses(1, "--block 1025", &["--block 1025", "1024"]);
    chapter().refuses(
        1,
        "pseudo_random 4294967295 1",
        &["--block 4294967295", "1024"],
    );
}

#[test]
fn a_grid_over_the_devices_limit() {
    let parts = ["2147483648 blocks", "2147483647", "--block"];
    chapter().refuses(1, "--sums 2147483648 --block 1", &parts);
}

/// The most sums take 43 GB on the simulator: where a computer has those there is nothing to show.
#[cfg(target_os = "linux")]
#[test]
fn sums_too_many_for_memory() {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap();
    let mut words = memory
        .split_whitespace()
        .skip_while(|&word| word != "MemAvailable:");
    let available_kb: u64 = words.nth(1).unwrap().parse().unwrap();
    if available_kb < 40_000_000 {
        chapter().refuses(1, "--sums 2147483648", &["these sums", "memory", "is free"]);
    }
}

#[test]
fn a_backend_that_is_none() {
    let chapter = chapter().with("CUDA_BACKEND", "cpu");
    chapter.refuses(1, "", &["CUDA_BACKEND", "cpu", "gpu", "sim"]);
}

#[test]
fn the_gpu_where_there_is_none() {
    chapter().needs_a_gpu_when_asked_for_one("--sums 1");
}
