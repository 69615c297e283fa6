//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_stencil-readonly"))
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--size", "--block"], &INVALID_SIZES);
    chapter().rejects(2, "--size 1073741825", &["--size", "1073741824"]);
}

#[test]
fn blocks_smaller_than_the_halo_are_rejected() {
    chapter().rejects(2, "--block 3", &["--block", "load the halo", "at least 4"]);
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    for block in ["1025", "4294967295"] {
        let expected = format!("--block {block}");
        chapter().rejects(1, &expected, &[&expected, "1024"]);
    }
}

#[test]
fn unknown_variants_are_rejected_with_the_list() {
    let all =
        "book, ladder, constant, __ldg, const-__restrict__, cached, vectors, aligned, read-only";
    chapter().rejects(2, "--variant texture", &["texture", all]);
}

/// The largest array takes 30 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn arrays_larger_than_memory_are_rejected() {
    if chapter_test::available_memory() < 29_000_000_000 {
        chapter().rejects(1, "--size 1073741824", &["this array", "memory", "is free"]);
    }
}

#[test]
fn unexpected_arguments_are_rejected() {
    chapter().rejects(2, "1000", &["unexpected argument '1000'"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--size 1");
}
