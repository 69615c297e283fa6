//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::body;
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

chapter_test::chapter! {
    "device-symbols";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--count 5000");
    profiles_have_counters_advice_and_source_lines: check_profile(
        "--count 1000", &[("combine", "out[i] = fmaf("), ("store", "dev_pointer[i] = ")]
    );
    unwritable_output_is_handled: survives_closed_output("--count 17");
    checks_have_no_findings: check_finds_nothing("");
}

/// Runs the program and fails unless every step is correct. The last two steps copy `bytes` bytes of `symbol`
/// at `offset`.
fn check_copies(arguments: &str, symbol: &str, bytes: u64, offset: u64) {
    let results = chapter().results(arguments);
    let mut expected = steps();
    for direction in ["to", "from"] {
        let step = format!("{direction} {symbol}, part");
        expected.push(json!([step, symbol, bytes, offset]));
    }
    let fields = ["variant", "symbol", "bytes", "offset"];
    let actual: Vec<Value> = results
        .iter()
        .map(|result| fields.iter().map(|&field| result[field].clone()).collect())
        .collect();
    assert_eq!(actual, expected);
}

fn copies_the_default_part(count_and_block: &str) {
    check_copies(count_and_block, "const_data", 256, 512);
}

chapter_test::cases! {
    copies_the_default_part;
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
        let arguments = format!("--count 40 --symbol {symbol}");
        check_copies(&arguments, symbol, bytes, offset);
    }
}

#[test]
fn the_tables_have_every_variable_and_step_with_modelled_times() {
    let run = chapter().run("--count 1000");
    let (symbols, steps_table) = run.stdout.split_once("\n\n").unwrap();
    let rows = body(symbols);
    assert_eq!(rows.len(), 3, "{symbols}");
    for (row, start) in rows.iter().zip([
        "| const_data  | constant |  1024 | ",
        "| dev_data    | global   |     4 | ",
        "| dev_pointer | global   |     8 | ",
    ]) {
        assert!(row.starts_with(start) && row.contains(" 0x"), "{symbols}");
    }
    let rows = body(steps_table);
    assert_eq!(rows.len(), 11, "{steps_table}");
    for row in rows {
        assert!(row.contains("correct"), "{row}");
    }
    run.says_that_times_are_modelled();
    run.notes(&["A symbol is a name"]);
}

#[test]
fn the_record_has_the_inputs_and_speedups() {
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
    let of = |field| -> Vec<Value> { symbols.iter().map(|symbol| symbol[field].clone()).collect() };
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
