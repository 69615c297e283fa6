//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "matmul-tiled";
    invalid_sizes_are_rejected:
        rejects_values(&["--m", "--n", "--p"], &INVALID_SIZES),
        rejects_values(&["--m", "--n", "--p"], &["536870785"]),
        rejects_values(&["--seed"], &["-1", "many"]);
    unknown_fills_are_rejected_with_the_list:
        rejects(2, "--fill zeros", &["zeros", "random", "identity"]);
    malformed_blocks_are_rejected: rejects_malformed_blocks();
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 32x33", &["pitched: --block 32x33", "1056 threads", "1024"]);
    grids_above_the_devices_limit_are_rejected:
        rejects(1, "--m 1048561 --n 1 --p 1", &["pitched: ", "1x65536 blocks", "65535"]),
        // The smallest tiles need the most blocks.
        rejects(1, "--m 524281 --n 1 --p 1", &["tiled 8: ", "1x65536 blocks", "65535"]),
        rejects(
            1, "--m 4194241 --n 1 --p 1 --variant columns", &["columns: ", "1x65536 blocks", "65535"]
        );
    matrices_larger_than_memory_are_rejected: rejects(
        1, "--m 1000000 --n 1000000 --p 1000000 --variant tiled-16",
        &["needs 12000.8 GB", "memory", "is free"]
    );
    common_invalid_input_is_rejected: rejects_common_invalid_input("--m 1 --n 1 --p 1");
}

#[test]
fn unknown_kernels_are_rejected_with_the_list() {
    let list = "book, ladder, pitched, tiled-8, tiled-16, tiled-32, columns, squares, vectors, \
                warp-tiles, double-buffer, async, even-shares, split-k, tensor-cores, warpgroups";
    for kernel in ["0", "tiled", "tiled-64", "all", "pitched,", "many"] {
        chapter().rejects(2, &format!("--variant {kernel}"), &[kernel, list]);
    }
}
