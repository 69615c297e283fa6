//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_add-constant"))
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--sums", "--block"], &INVALID_SIZES);
    chapter().rejects_values(&["--seed"], &["-1", "many"]);
    chapter().rejects(2, "--sums 2147483649", &["--sums", "2147483648"]);
}

#[test]
fn the_notes_arguments_are_validated_like_flags() {
    for value in ["0", "-5", "many"] {
        chapter().rejects(2, &format!("pseudo_random {value}"), &["BLOCK_SIZE", value]);
        chapter().rejects(
            2,
            &format!("pseudo_random 32 {value}"),
            &["NUM_SUMS", value],
        );
    }
    chapter().rejects(2, "pseudo_random 32 1 1", &["unexpected argument"]);
}

#[test]
fn unknown_patterns_are_rejected_with_the_list() {
    let all = [
        "every_other_day",
        "one_access_per_block",
        "one_access_per_warp",
        "one_access_per_thread",
        "pseudo_random",
    ];
    chapter().rejects(2, "every_other_day", &all);
    chapter().rejects(2, "--pattern every_other_day", &all);
}

#[test]
fn arguments_and_flags_are_mutually_exclusive() {
    for (both, flag) in [
        ("pseudo_random --pattern pseudo_random", "--pattern"),
        ("pseudo_random 32 --block 32", "--block"),
        ("pseudo_random 32 17 --sums 17", "--sums"),
    ] {
        chapter().rejects(2, both, &["cannot be used with", flag]);
    }
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    chapter().rejects(1, "--block 1025", &["--block 1025", "1024"]);
    chapter().rejects(
        1,
        "pseudo_random 4294967295 1",
        &["--block 4294967295", "1024"],
    );
}

#[test]
fn unknown_variants_are_rejected_with_the_list() {
    let all = [
        "all",
        "book",
        "ladder",
        "constant-int4",
        "read-only-int4",
        "shared",
    ];
    chapter().rejects(2, "--variant all", &all);
}

#[test]
fn blocks_that_are_not_multiples_of_four_are_rejected() {
    let parts = ["constant int4", "--block 7", "multiple of four"];
    chapter().rejects(1, "--variant ladder --block 7 --sums 100", &parts);
    chapter().rejects(1, "--variant shared --block 2", &["shared", "--block 2"]);
}

#[test]
fn grids_above_the_devices_limit_are_rejected() {
    let parts = ["2147483648 blocks", "2147483647", "--block"];
    chapter().rejects(1, "--sums 2147483648 --block 1", &parts);
}

/// The maximum takes 43 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn sums_larger_than_memory_are_rejected() {
    if chapter_test::available_memory() < 40_000_000_000 {
        chapter().rejects(1, "--sums 2147483648", &["these sums", "memory", "is free"]);
    }
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--sums 1");
}

#[test]
fn modelled_gpus_have_their_limits() {
    let old = chapter().with_env("CUDA_SIM_DEVICE", "gtx280");
    old.rejects(1, "", &["--block 1024 is too large", "at most 512 threads"]);
    let grid = "--block 32 --sums 2097152";
    old.rejects(1, grid, &["65536 blocks", "at most 65535"]);
}
