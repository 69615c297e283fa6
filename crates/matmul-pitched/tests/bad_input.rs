//! Invalid input: one error message with the problem, its location and the next step, and no panic or table.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "matmul-pitched";
    invalid_sizes_are_rejected:
        rejects_values(&["--m", "--n", "--p", "--widths"], &INVALID_SIZES),
        rejects_values(&["--m", "--n", "--p", "--widths"], &["536870785"]),
        rejects_values(&["--seed"], &["-1", "many"]);
    unknown_fills_are_rejected_with_the_list:
        rejects(2, "--fill zeros", &["zeros", "random", "identity"]);
    unknown_variants_are_rejected_with_the_list: rejects(
        2, "--variant all", &["all", "book", "ladder", "uncoalesced-linear", "read-only", "tile-8x8"]
    );
    malformed_blocks_are_rejected: rejects_malformed_blocks();
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 32x33", &["--block 32x33", "1056 threads", "1024"]),
        // The product exceeds 32 bits.
        rejects(1, "--block 65536x65536", &["4294967296 threads", "1024"]);
    grids_above_the_devices_limit_are_rejected:
        rejects(1, "--m 1048561 --n 1 --p 1", &["1x65536 blocks", "65535", "larger blocks"]),
        rejects(1, "--m 65536 --n 1 --p 1 --block 1x1", &["1x65536 blocks", "65535", "larger blocks"]);
    matrices_larger_than_memory_are_rejected: rejects(
        1, "--m 1000000 --n 1000000 --p 1000000", &["needs 12000.8 GB", "memory", "is free"]
    );
    common_invalid_input_is_rejected: rejects_common_invalid_input("--m 1 --n 1 --p 1");
}

#[test]
fn malformed_lists_of_widths_are_rejected() {
    for list in ["15,,128", "15,", ",", "15;128", "15,0", "15,-1"] {
        chapter().rejects(2, &format!("--widths {list}"), &["--widths"]);
    }
}
