//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_add-constant"))
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--sums", "--block"], &NO_SIZES);
    chapter().refuses_values(&["--seed"], &["-1", "many"]);
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
fn a_block_over_the_devices_limit() {
    chapter().refuses(1, "--block 1025", &["--block 1025", "1024"]);
    chapter().refuses(
        1,
        "pseudo_random 4294967295 1",
        &["--block 4294967295", "1024"],
    );
}

#[test]
fn a_variant_that_is_none_gets_the_list() {
    let all = [
        "all",
        "book",
        "ladder",
        "constant-int4",
        "read-only-int4",
        "shared",
    ];
    chapter().refuses(2, "--variant all", &all);
}

#[test]
fn vectors_that_are_not_in_one_block() {
    let parts = ["constant int4", "--block 7", "multiple of four"];
    chapter().refuses(1, "--variant ladder --block 7 --sums 100", &parts);
    chapter().refuses(1, "--variant shared --block 2", &["shared", "--block 2"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let parts = ["2147483648 blocks", "2147483647", "--block"];
    chapter().refuses(1, "--sums 2147483648 --block 1", &parts);
}

/// The maximum takes 43 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn sums_too_many_for_memory() {
    if chapter_test::available_memory() < 40_000_000_000 {
        chapter().refuses(1, "--sums 2147483648", &["these sums", "memory", "is free"]);
    }
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--sums 1");
}

#[test]
fn a_modelled_gpu_has_its_own_limits() {
    let old = chapter().with("CUDA_SIM_DEVICE", "gtx280");
    old.refuses(1, "", &["--block 1024 is too large", "at most 512 threads"]);
    let grid = "--block 32 --sums 2097152";
    old.refuses(1, grid, &["65536 blocks", "at most 65535"]);
}
