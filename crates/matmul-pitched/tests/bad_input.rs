//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-pitched"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--m", "--n", "--p", "--widths"], &NO_SIZES);
    chapter().refuses_values(&["--m", "--n", "--p", "--widths"], &["536870785"]);
    chapter().refuses_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn lists_of_widths_that_are_none() {
    for list in ["15,,128", "15,", ",", "15;128", "15,0", "15,-1"] {
        says(2, &format!("--widths {list}"), &["--widths"]);
    }
}

#[test]
fn an_unknown_fill_gets_the_list() {
    says(2, "--fill zeros", &["zeros", "random", "identity"]);
}

#[test]
fn a_variant_that_is_none_gets_the_list() {
    let all = [
        "all",
        "book",
        "ladder",
        "uncoalesced-linear",
        "read-only",
        "tile-8x8",
    ];
    says(2, "--variant all", &all);
}

#[test]
fn blocks_that_are_none() {
    for malformed in ["16", "16x", "x", "16x16x1", "axb", "16X16"] {
        says(2, &format!("--block {malformed}"), &[malformed, "16x16"]);
    }
    for zero in ["0x16", "16x0"] {
        says(
            2,
            &format!("--block {zero}"),
            &[zero, "at least one thread"],
        );
    }
}

#[test]
fn blocks_over_the_devices_limit() {
    says(
        1,
        "--block 32x33",
        &["--block 32x33", "1056 threads", "1024"],
    );
    let product_past_32_bits = "--block 65536x65536";
    says(1, product_past_32_bits, &["4294967296 threads", "1024"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let high = "--m 1048561 --n 1 --p 1";
    let wanted = ["1x65536 blocks", "65535", "larger blocks"];
    says(1, high, &wanted);
    says(1, "--m 65536 --n 1 --p 1 --block 1x1", &wanted);
}

#[test]
fn matrices_too_large_for_memory() {
    let huge = "--m 1000000 --n 1000000 --p 1000000";
    says(1, huge, &["needs 12000.8 GB", "memory", "is free"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--m 1 --n 1 --p 1");
}
