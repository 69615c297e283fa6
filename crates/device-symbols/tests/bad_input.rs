//! Everything a user can get wrong: one message that says what, where and what to do; no panic.

use chapter_test::Chapter;

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_device-symbols"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn numbers_that_are_zero_negative_or_none() {
    for flag in ["--count", "--block", "--bytes", "--repeat"] {
        for value in ["0", "-5", "many", "1.5", "99999999999999999999"] {
            says(2, &format!("{flag} {value}"), &[flag, value]);
        }
    }
    for value in ["-1", "many", "1.5", "99999999999999999999"] {
        says(2, &format!("--offset {value}"), &["--offset", value]);
    }
    says(2, "--count", &["--count", "value is required"]);
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
        ("--symbol dev_data", "dev_data", 4),
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
fn an_unknown_flag() {
    says(2, "--depth 3", &["--depth"]);
    says(2, "const_data", &["const_data"]);
}

#[test]
fn a_backend_that_is_none() {
    let wanted = ["CUDA_BACKEND", "cpu", "gpu", "sim"];
    chapter()
        .with("CUDA_BACKEND", "cpu")
        .refuses(1, "", &wanted);
}

#[test]
fn the_gpu_where_there_is_none() {
    chapter().needs_a_gpu_when_asked_for_one("--count 1");
}
