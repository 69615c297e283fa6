//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::INVALID_SIZES;

const VARIANTS: [&str; 8] = [
    "copies",
    "book",
    "ladder",
    "add",
    "float4",
    "pageable",
    "pinned",
    "overlapped",
];

chapter_test::chapter! {
    "vector-add";
    invalid_sizes_are_rejected:
        rejects_values(&["--count", "--block"], &INVALID_SIZES),
        rejects_values(&["--seed"], &["-1", "many"]);
    sizes_above_the_limit_are_rejected:
        rejects(2, "--count 1099511627777", &["--count", "1099511627776"]),
        rejects(2, "--block 4294967296", &["--block", "4294967296"]);
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 1025", &["--block 1025", "1024"]);
    grids_above_the_devices_limit_are_rejected:
        rejects(1, "--count 4294967296 --block 1", &["4294967296 blocks", "2147483647", "--block"]);
    vectors_larger_than_memory_are_rejected:
        rejects(1, "--count 1000000000000 --block 1024", &["this sum needs 12000.0 GB", "is free"]);
    unknown_variants_are_rejected_with_the_list:
        rejects(2, "--variant copies", &VARIANTS),
        rejects(2, "--variant add,copies", &VARIANTS);
    unexpected_arguments_are_rejected: rejects(2, "17", &["unexpected argument '17'"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--count 1");
}
