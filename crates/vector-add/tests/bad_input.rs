//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_vector-add"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--count", "--block"], &NO_SIZES);
    chapter().refuses_values(&["--seed"], &["-1", "many"]);
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
fn a_variant_that_is_none_gets_the_list() {
    let all = [
        "copies",
        "book",
        "ladder",
        "add",
        "float4",
        "pageable",
        "pinned",
        "overlapped",
    ];
    says(2, "--variant copies", &all);
    says(2, "--variant add,copies", &all);
}

#[test]
fn a_word_that_is_no_flag() {
    chapter().refuses(2, "17", &["unexpected argument '17'"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--count 1");
}
