//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::Chapter;
use serde_json::{Value, json};

/// Returns the expected steps, each with the symbol, the number of bytes and the offset that it copies.
fn steps() -> Vec<Value> {
    vec![
        json!(["to const_data", "const_data", 1024, 0]),
        json!(["from const_data", "const_data", 1024, 0]),
        json!(["to dev_data", "dev_data", 4, 0]),
        json!(["from dev_data", "dev_data", 4, 0]),
        json!(["to dev_pointer", "dev_pointer", 8, 0]),
        json!(["from dev_pointer", "dev_pointer", 8, 0]),
        json!(["combine", null, null, null]),
        json!(["store", null, null, null]),
        json!(["from dev_data, stored", "dev_data", 4, 0]),
    ]
}

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_device-symbols"))
}

/// Runs the program and fails unless every step is correct. The last two steps copy `bytes` bytes of `symbol`
/// at `offset`.
fn check_copies(arguments: &str, symbol: &str, bytes: u64, offset: u64) {
    let record = chapter().record(arguments);
    let results = record["results"].as_array().unwrap();
    let mut expected = steps();
    for direction in ["to", "from"] {
        expected.push(json!([
            format!("{direction} {symbol}, part"),
            symbol,
            bytes,
            offset
        ]));
    }
    let fields = ["variant", "symbol", "bytes", "offset"];
    let actual: Vec<Value> = results
        .iter()
        .map(|result| fields.iter().map(|&field| result[field].clone()).collect())
        .collect();
    assert_eq!(actual, expected);
    for result in results {
        assert_eq!(result["verified"], true, "{result}");
        assert_eq!(result["differing"], 0);
    }
}

/// Defines one test per combination of `--count` and `--block`.
macro_rules! sizes {
    ($($test:ident: $arguments:literal;)*) => {
        $(#[test] fn $test() { check_copies($arguments, "const_data", 256, 512) })*
    };
}

sizes! {
    one_element: "--count 1";
    an_odd_number: "--count 17 --block 32";
    one_more_than_the_array: "--count 257";
    blocks_of_one_thread: "--count 300 --block 1";
    blocks_of_an_odd_size: "--count 1000 --block 7";
    the_largest_block: "--count 100001 --block 1024";
    the_default_size: "";
}

#[test]
fn parts_of_every_variable_are_copied() {
    for (symbol, bytes, offset) in [
        ("const_data", 1024, 0),
        ("const_data", 1, 1023),
        ("const_data", 5, 3),
        ("dev_data", 4, 0),
        ("dev_data", 2, 1),
        ("dev_pointer", 8, 0),
        ("dev_pointer", 3, 5),
    ] {
        let part = format!("--count 40 --symbol {symbol} --bytes {bytes} --offset {offset}");
        check_copies(&part, symbol, bytes, offset);
    }
}

#[test]
fn the_default_part_is_a_quarter_from_the_middle() {
    for (symbol, bytes, offset) in [
        ("const_data", 256, 512),
        ("dev_data", 1, 2),
        ("dev_pointer", 2, 4),
    ] {
        check_copies(
            &format!("--count 40 --symbol {symbol}"),
            symbol,
            bytes,
            offset,
        );
    }
}

#[test]
fn the_tables_have_every_variable_and_step_with_modelled_times() {
    let run = chapter().run("--count 1000");
    let (symbols, steps_table) = run.stdout.split_once("\n\n").unwrap();
    let rows: Vec<&str> = symbols.lines().skip(2).collect();
    assert_eq!(rows.len(), 3, "{symbols}");
    for (row, start) in rows.iter().zip([
        "| const_data  | constant |  1024 | ",
        "| dev_data    | global   |     4 | ",
        "| dev_pointer | global   |     8 | ",
    ]) {
        assert!(row.starts_with(start) && row.contains(" 0x"), "{symbols}");
    }
    let rows: Vec<&str> = steps_table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), 11, "{steps_table}");
    let legend = "Times: modelled, NVIDIA H200.";
    assert!(steps_table.contains(legend), "{steps_table}");
    for row in rows {
        assert!(row.contains("correct"), "{row}");
    }
    for note in [
        "simulator: models an NVIDIA H200",
        "Modelled times are estimates",
        "A symbol is a name",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
}

#[test]
fn record_has_the_inputs_and_final_symbols() {
    let arguments = "--count 1000 --block 64 --symbol dev_data --offset 1 --bytes 2";
    let record = chapter().record(arguments);
    assert_eq!(record["chapter"], "device-symbols");
    assert_eq!(record["gpu"]["time"], "modelled");
    let inputs = json!({"count": 1000, "block": 64, "symbol": "dev_data", "offset": 1, "bytes": 2});
    assert_eq!(record["inputs"], inputs);
    assert_eq!(record["baseline"], "to const_data");
    assert_eq!(record["results"][0]["speedup"], 1.0);

    // The scalar holds the value that the kernel stored, and the pointer an address that is not a variable's.
    let symbols = record["symbols"].as_array().unwrap();
    let of = |field: &str| {
        symbols
            .iter()
            .map(|symbol| symbol[field].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("name"), ["const_data", "dev_data", "dev_pointer"]);
    assert_eq!(of("memory"), ["constant", "global", "global"]);
    assert_eq!(of("bytes"), [1024, 4, 8]);
    assert_eq!(of("holds")[..2], ["256 floats", "0.75"]);
    let mut addresses = of("address");
    addresses.push(symbols[2]["holds"].clone());
    for (index, address) in addresses.iter().enumerate() {
        assert!(!addresses[..index].contains(address), "{addresses:?}");
    }
}

#[test]
fn the_same_run_twice_gives_the_same_record() {
    let record = || chapter().record("--count 5000");
    assert_eq!(record(), record());
}

#[test]
fn profiles_have_counters_advice_and_source_lines() {
    chapter().check_profile(
        "--count 1000",
        &[
            ("combine", "out[i] = fmaf("),
            ("store", "dev_pointer[i] = "),
        ],
    );
}

#[test]
fn unwritable_output_is_handled() {
    chapter().survives_closed_output("--count 17");
}

#[test]
fn checks_have_no_findings() {
    chapter().check_finds_nothing("");
}
