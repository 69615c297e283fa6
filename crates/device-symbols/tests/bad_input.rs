//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "device-symbols";
    invalid_numbers_are_rejected:
        rejects_values(&["--count", "--block", "--bytes"], &INVALID_SIZES),
        rejects_values(&["--offset"], &["-1", "many", "1.5", "99999999999999999999"]);
    counts_above_the_limit_are_rejected:
        rejects(2, "--count 1099511627777", &["--count", "1099511627776"]);
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 1025", &["--block 1025", "1024"]);
    grids_above_the_devices_limit_are_rejected:
        rejects(1, "--count 4294967296 --block 1", &["4294967296 blocks", "2147483647", "--block"]);
    outputs_larger_than_memory_are_rejected: rejects(
        1, "--count 1000000000000 --block 1024", &["the output of the kernel needs 4000.0 GB", "is free"]
    );
    unexpected_arguments_are_rejected:
        rejects(2, "const_data", &["unexpected argument 'const_data'"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--count 1");
}

#[test]
fn unknown_symbols_are_rejected_with_the_list() {
    for name in ["constData", "const_data[1]", "combine", "CONST_DATA"] {
        let quoted = format!("no variable '{name}'");
        let expected = [&quoted, "const_data, dev_data, dev_pointer"];
        chapter().rejects(1, &format!("--symbol {name}"), &expected);
    }
    chapter().rejects(1, "--symbol=", &["no variable ''"]);
}

#[test]
fn parts_beyond_the_variable_are_rejected() {
    let nine_bytes = "--symbol dev_pointer --offset 4 --bytes 5";
    for (part, symbol, has) in [
        ("--offset 1024 --bytes 1", "const_data", 1024),
        ("--offset 1000 --bytes 25", "const_data", 1024),
        ("--offset 0 --bytes 1025", "const_data", 1024),
        ("--offset 18446744073709551615", "const_data", 1024),
        ("--bytes 18446744073709551615", "const_data", 1024),
        ("--symbol dev_data --offset 4", "dev_data", 4),
        ("--symbol dev_data --offset 2 --bytes 4", "dev_data", 4),
        (nine_bytes, "dev_pointer", 8),
    ] {
        let expected = format!("is not within {symbol}, which has {has} bytes");
        let expected = ["--offset, --bytes: a part of length", &expected];
        chapter().rejects(1, part, &expected);
    }
    let both = "--offset 1000 --bytes 25";
    chapter().rejects(1, both, &["length 25 at offset 1000"]);
}
