//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::{Chapter, INVALID_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_device-symbols"))
}

fn rejects(code: i32, arguments: &str, expected: &[&str]) {
    chapter().rejects(code, arguments, expected);
}

#[test]
fn invalid_numbers_are_rejected() {
    chapter().rejects_values(&["--count", "--block", "--bytes"], &INVALID_SIZES);
    chapter().rejects_values(
        &["--offset"],
        &["-1", "many", "1.5", "99999999999999999999"],
    );
}

#[test]
fn counts_above_the_limit_are_rejected() {
    rejects(2, "--count 1099511627777", &["--count", "1099511627776"]);
}

#[test]
fn unknown_symbols_are_rejected_with_the_list() {
    for name in ["constData", "const_data[1]", "combine", "CONST_DATA"] {
        let quoted = format!("no variable '{name}'");
        let expected = [&quoted, "const_data, dev_data, dev_pointer"];
        rejects(1, &format!("--symbol {name}"), &expected);
    }
    rejects(1, "--symbol=", &["no variable ''"]);
}

#[test]
fn parts_beyond_the_variable_are_rejected() {
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
        let expected = format!("is not within {symbol}, which has {has} bytes");
        rejects(1, part, &["--offset, --bytes: a part of length", &expected]);
    }
    let both = "--offset 1000 --bytes 25";
    rejects(1, both, &["length 25 at offset 1000"]);
}

#[test]
fn blocks_above_the_devices_limit_are_rejected() {
    rejects(1, "--block 1025", &["--block 1025", "1024"]);
}

#[test]
fn grids_above_the_devices_limit_are_rejected() {
    let long = "--count 4294967296 --block 1";
    rejects(1, long, &["4294967296 blocks", "2147483647", "--block"]);
}

#[test]
fn outputs_larger_than_memory_are_rejected() {
    let huge = "--count 1000000000000 --block 1024";
    rejects(
        1,
        huge,
        &["the output of the kernel needs 4000.0 GB", "is free"],
    );
}

#[test]
fn unexpected_arguments_are_rejected() {
    chapter().rejects(2, "const_data", &["unexpected argument 'const_data'"]);
}

#[test]
fn common_invalid_input_is_rejected() {
    chapter().rejects_common_invalid_input("--count 1");
}
