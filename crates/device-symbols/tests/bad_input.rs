//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_device-symbols"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn numbers_that_are_zero_negative_or_none() {
    chapter().refuses_values(&["--count", "--block", "--bytes"], &NO_SIZES);
    chapter().refuses_values(
        &["--offset"],
        &["-1", "many", "1.5", "99999999999999999999"],
    );
}

#[test]
fn a_count_over_the_limit() {
    says(2, "--count 1099511627777", &["--count", "1099511627776"]);
}

#[test]
fn a_name_that_no_variable_has() {
    for name in ["constData", "const_data[1]", "combine", "CONST_DATA"] {
        let quoted = format!("no variable '{name}'");
        let wanted = [&quoted, "const_data, dev_data, dev_pointer"];
        says(1, &format!("--symbol {name}"), &wanted);
    }
    says(1, "--symbol=", &["no variable ''"]);
}

#[test]
fn parts_that_do_not_fit() {
    for (part, symbol, has) in [
        ("--offset 1024 --bytes 1", "const_data", 1024),
        ("--offset 1000 --bytes 25", "const_data", 1024),
        ("--offset 0 --bytes 1025", "const_data", 1024),
        ("--offset 18446744073709551615", "const_data", 1024),
        ("--bytes 18446744073709551615", "const_data", 1024),
        ("--symbol dev_data --offset 4", "dev_data", 4),
        ("--symbol dev_data --offset 2 --bytes 4", "dev_data", 4),
        (
            "--symbol dev_pointer --offset 4 --bytes 5",
            "dev_pointer",
            8,
        ),
    ] {
        let wanted = format!("is not within {symbol}, which has {has} bytes");
        says(1, part, &["--offset, --bytes: a part of length", &wanted]);
    }
    let both = "--offset 1000 --bytes 25";
    says(1, both, &["length 25 at offset 1000"]);
}

#[test]
fn blocks_over_the_devices_limit() {
    says(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let long = "--count 4294967296 --block 1";
    says(1, long, &["4294967296 blocks", "2147483647", "--block"]);
}

#[test]
fn an_output_too_large_for_memory() {
    let huge = "--count 1000000000000 --block 1024";
    says(
        1,
        huge,
        &["what the kernel makes needs 4000.0 GB", "is free"],
    );
}

#[test]
fn a_word_that_is_no_flag() {
    chapter().refuses(2, "const_data", &["unexpected argument 'const_data'"]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--count 1");
}
