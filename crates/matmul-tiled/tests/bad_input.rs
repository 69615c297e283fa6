//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-tiled"))
}

fn rejects(code: i32, arguments: &str, expected: &[&str]) {
    chapter().rejects(code, arguments, expected);
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--m", "--n", "--p"], &INVALID_SIZES);
    chapter().rejects_values(&["--m", "--n", "--p"], &["536870785"]);
    chapter().rejects_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn unknown_kernels_are_rejected_with_the_list() {
    let list = "book, ladder, pitched, tiled-8, tiled-16, tiled-32, columns, squares, vectors, \
                warp-tiles, double-buffer, async, even-shares, split-k, tensor-cores, warpgroups";
    for kernel in ["0", "tiled", "tiled-64", "all", "pitched,", "many"] {
        rejects(2, &format!("--variant {kernel}"), &[kernel, list]);
    }
}

#[test]
fn unknown_fills_are_rejected_with_the_list() {
    rejects(2, "--fill zeros", &["zeros", "random", "identity"]);
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
    let expected = ["pitched: --block 32x33", "1056 threads", "1024"];
    rejects(1, "--block 32x33", &expected);
}

#[test]
fn grids_above_the_devices_limit_are_rejected() {
    let pitched = ["pitched: ", "1x65536 blocks", "65535"];
    rejects(1, "--m 1048561 --n 1 --p 1", &pitched);
    // The smallest tiles need the most blocks.
    let tiled = ["tiled 8: ", "1x65536 blocks", "65535"];
    rejects(1, "--m 524281 --n 1 --p 1", &tiled);
    let columns = ["columns: ", "1x65536 blocks", "65535"];
    rejects(1, "--m 4194241 --n 1 --p 1 --variant columns", &columns);
}

#[test]
fn matrices_larger_than_memory_are_rejected() {
    let huge = "--m 1000000 --n 1000000 --p 1000000 --variant tiled-16";
    rejects(1, huge, &["needs 12000.8 GB", "memory", "is free"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--m 1 --n 1 --p 1");
}
