//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_vector-add"))
}

fn rejects(code: i32, arguments: &str, expected: &[&str]) {
    chapter().rejects(code, arguments, expected);
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--count", "--block"], &INVALID_SIZES);
    chapter().rejects_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn sizes_above_the_limit_are_rejected() {
    rejects(2, "--count 1099511627777", &["--count", "1099511627776"]);
    rejects(2, "--block 4294967296", &["--block", "4294967296"]);
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    rejects(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn grids_above_the_devices_limit_are_rejected() {
    let long = "--count 4294967296 --block 1";
    rejects(1, long, &["4294967296 blocks", "2147483647", "--block"]);
}

#[test]
fn vectors_larger_than_memory_are_rejected() {
    let huge = "--count 1000000000000 --block 1024";
    rejects(1, huge, &["this sum needs 12000.0 GB", "is free"]);
}

#[test]
fn unknown_variants_are_rejected_with_the_list() {
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
    rejects(2, "--variant copies", &all);
    rejects(2, "--variant add,copies", &all);
}

#[test]
fn unexpected_arguments_are_rejected() {
    chapter().rejects(2, "17", &["unexpected argument '17'"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--count 1");
}
