//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_stencil-readonly"))
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--size", "--block"], &NO_SIZES);
    chapter().refuses(2, "--size 1073741825", &["--size", "1073741824"]);
}

#[test]
fn a_block_without_threads_enough_for_the_halo() {
    chapter().refuses(2, "--block 3", &["--block", "fetch the halo", "at least 4"]);
}

#[test]
fn a_block_over_the_devices_limit() {
    for block in ["1025", "4294967295"] {
        let wanted = format!("--block {block}");
        chapter().refuses(1, &wanted, &[&wanted, "1024"]);
    }
}

#[test]
fn an_unknown_variant_gets_the_list() {
    let all =
        "book, ladder, constant, __ldg, const-__restrict__, cached, vectors, aligned, read-only";
    chapter().refuses(2, "--variant texture", &["texture", all]);
}

/// The largest array takes 30 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn an_array_too_large_for_memory() {
    if chapter_test::available_memory() < 29_000_000_000 {
        chapter().refuses(1, "--size 1073741824", &["this array", "memory", "is free"]);
    }
}

#[test]
fn a_word_that_is_no_flag() {
    chapter().refuses(2, "1000", &["unexpected argument '1000'"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--size 1");
}
