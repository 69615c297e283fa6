//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_new-chapter"))
}

#[test]
fn invalid_sizes_are_rejected() {
    chapter().rejects_values(&["--count", "--block"], &INVALID_SIZES);
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    chapter().rejects(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--count 1");
}
