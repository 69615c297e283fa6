//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-tiled"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--m", "--n", "--p"], &NO_SIZES);
    chapter().refuses_values(&["--m", "--n", "--p"], &["536870785"]);
    chapter().refuses_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn an_unknown_kernel_gets_the_list() {
    let list = "book, ladder, pitched, tiled-8, tiled-16, tiled-32, columns, squares, vectors, \
                warp-tiles, double-buffer, async, even-shares, split-k, tensor-cores, warpgroups";
    for kernel in ["0", "tiled", "tiled-64", "all", "pitched,", "many"] {
        says(2, &format!("--variant {kernel}"), &[kernel, list]);
    }
}

#[test]
fn an_unknown_fill_gets_the_list() {
    says(2, "--fill zeros", &["zeros", "random", "identity"]);
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
    let wanted = ["pitched: --block 32x33", "1056 threads", "1024"];
    says(1, "--block 32x33", &wanted);
}

#[test]
fn grids_over_the_devices_limit() {
    let pitched = ["pitched: ", "1x65536 blocks", "65535"];
    says(1, "--m 1048561 --n 1 --p 1", &pitched);
    // The smallest tiles need the most blocks.
    let tiled = ["tiled 8: ", "1x65536 blocks", "65535"];
    says(1, "--m 524281 --n 1 --p 1", &tiled);
    let columns = ["columns: ", "1x65536 blocks", "65535"];
    says(1, "--m 4194241 --n 1 --p 1 --variant columns", &columns);
}

#[test]
fn matrices_too_large_for_memory() {
    let huge = "--m 1000000 --n 1000000 --p 1000000 --variant tiled-16";
    says(1, huge, &["needs 12000.8 GB", "memory", "is free"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--m 1 --n 1 --p 1");
}
