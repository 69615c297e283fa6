//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-pitched"))
}

fn rejects(code: i32, arguments: &str, expected: &[&str]) {
    chapter().rejects(code, arguments, expected);
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--m", "--n", "--p", "--widths"], &INVALID_SIZES);
    chapter().rejects_values(&["--m", "--n", "--p", "--widths"], &["536870785"]);
    chapter().rejects_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn malformed_lists_of_widths_are_rejected() {
    for list in ["15,,128", "15,", ",", "15;128", "15,0", "15,-1"] {
        rejects(2, &format!("--widths {list}"), &["--widths"]);
    }
}

#[test]
fn unknown_fills_are_rejected_with_the_list() {
    rejects(2, "--fill zeros", &["zeros", "random", "identity"]);
}

#[test]
fn unknown_variants_are_rejected_with_the_list() {
    let all = [
        "all",
        "book",
        "ladder",
        "uncoalesced-linear",
        "read-only",
        "tile-8x8",
    ];
    rejects(2, "--variant all", &all);
}

#[test]
fn malformed_blocks_are_rejected() {
    for malformed in ["16", "16x", "x", "16x16x1", "axb", "16X16"] {
        rejects(2, &format!("--block {malformed}"), &[malformed, "16x16"]);
    }
    for zero in ["0x16", "16x0"] {
        rejects(
            2,
            &format!("--block {zero}"),
            &[zero, "at least one thread"],
        );
    }
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    rejects(
        1,
        "--block 32x33",
        &["--block 32x33", "1056 threads", "1024"],
    );
    let product_past_32_bits = "--block 65536x65536";
    rejects(1, product_past_32_bits, &["4294967296 threads", "1024"]);
}

#[test]
fn grids_above_the_devices_limit_are_rejected() {
    let high = "--m 1048561 --n 1 --p 1";
    let expected = ["1x65536 blocks", "65535", "larger blocks"];
    rejects(1, high, &expected);
    rejects(1, "--m 65536 --n 1 --p 1 --block 1x1", &expected);
}

#[test]
fn matrices_larger_than_memory_are_rejected() {
    let huge = "--m 1000000 --n 1000000 --p 1000000";
    rejects(1, huge, &["needs 12000.8 GB", "memory", "is free"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--m 1 --n 1 --p 1");
}
