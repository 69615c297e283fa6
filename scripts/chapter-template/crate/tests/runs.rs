//! Runs of the program on the simulator.

use chapter_test::{Chapter, row};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_new-chapter"))
}

#[test]
fn sizes_that_blocks_divide_and_that_they_do_not() {
    for arguments in ["--count 1", "--count 1000 --block 96", "--count 4096 --factor -0.1"] {
        let run = chapter().runs(arguments);
        assert_eq!(row(&run.stdout, "scale").last(), Some(&"right"), "{arguments}");
    }
}

#[test]
fn the_record_says_what_was_run() {
    let record = chapter().record("--count 1000");
    assert_eq!(record["inputs"]["count"], 1000);
    assert_eq!(record["results"][0]["verified"], true);
}

#[test]
fn no_check_finds_anything() {
    chapter().checks_out("--count 1000");
}
