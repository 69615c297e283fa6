//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "new-chapter";
    invalid_sizes_are_rejected: rejects_values(&["--count", "--block"], &INVALID_SIZES);
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 1025", &["--block 1025", "1024"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--count 1");
}
