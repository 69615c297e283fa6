//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "add-constant";
    invalid_sizes_are_rejected:
        rejects_values(&["--sums", "--block"], &INVALID_SIZES),
        rejects_values(&["--seed"], &["-1", "many"]),
        rejects(2, "--sums 2147483649", &["--sums", "2147483648"]);
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 1025", &["--block 1025", "1024"]),
        rejects(1, "pseudo_random 4294967295 1", &["--block 4294967295", "1024"]);
    unknown_variants_are_rejected_with_the_list:
        rejects(2, "--variant all", &["all", "book", "ladder", "constant-int4", "read-only-int4", "shared"]);
    blocks_that_are_not_multiples_of_four_are_rejected:
        rejects(1, "--variant ladder --block 7 --sums 100", &["constant int4", "--block 7", "multiple of four"]),
        rejects(1, "--variant shared --block 2", &["shared", "--block 2"]);
    grids_above_the_devices_limit_are_rejected:
        rejects(1, "--sums 2147483648 --block 1", &["2147483648 blocks", "2147483647", "--block"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--sums 1");
}

#[test]
fn the_notes_arguments_are_validated_like_flags() {
    for value in ["0", "-5", "many"] {
        for (arguments, name) in [
            ("pseudo_random", "BLOCK_SIZE"),
            ("pseudo_random 32", "NUM_SUMS"),
        ] {
            chapter().rejects(2, &format!("{arguments} {value}"), &[name, value]);
        }
    }
    chapter().rejects(2, "pseudo_random 32 1 1", &["unexpected argument"]);
}

#[test]
fn unknown_patterns_are_rejected_with_the_list() {
    let all = "every_other_day one_access_per_block one_access_per_warp one_access_per_thread pseudo_random";
    let all: Vec<_> = all.split(' ').collect();
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

/// The maximum takes 43 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn sums_larger_than_memory_are_rejected() {
    if chapter_test::available_memory() < 40_000_000_000 {
        chapter().rejects(1, "--sums 2147483648", &["these sums", "memory", "is free"]);
    }
}

#[test]
fn modelled_gpus_have_their_limits() {
    let old = chapter().with_env("CUDA_SIM_DEVICE", "gtx280");
    old.rejects(1, "", &["--block 1024 is too large", "at most 512 threads"]);
    let grid = "--block 32 --sums 2097152";
    old.rejects(1, grid, &["65536 blocks", "at most 65535"]);
}
