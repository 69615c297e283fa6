//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_new-chapter"))
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--count", "--block"], &NO_SIZES);
}

#[test]
fn blocks_over_the_devices_limit() {
    chapter().refuses(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--count 1");
}
