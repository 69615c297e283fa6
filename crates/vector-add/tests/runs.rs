//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{body, counter, global, variants};
use serde_json::{Value, json};

/// The rows of the table from top to bottom.
const VARIANTS: [&str; 9] = [
    "add",
    "host to device",
    "device to host",
    "device to device",
    "host to host",
    "host to device, default",
    "device to host, default",
    "host to device, pinned",
    "device to host, pinned",
];

chapter_test::chapter! {
    "vector-add";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--count 5000");
    profiles_have_counters_advice_and_source_lines:
        check_profile("--count 1001", &[("add", "c[i] = a[i] + b[i]")]);
    repeat_0_measures_no_limits: measures_no_limits("--count 1000 --variant ladder");
    unwritable_output_is_handled: survives_closed_output("--count 17");
    checks_have_no_findings:
        check_finds_nothing("--count 1000"), check_finds_nothing("--count 1001 --variant ladder");
}

/// Runs the program and fails unless all results are correct and moved the expected number of bytes.
fn adds_and_copies(arguments: &str, count: u64) {
    let record = chapter().record(arguments);
    assert_eq!(record["inputs"]["count"], count);
    let results = chapter().results(arguments);
    assert_eq!(variants(&results), VARIANTS);
    for result in results {
        let vectors = if result["variant"] == "add" { 3 } else { 1 };
        assert_eq!(result["bytes"], vectors * 4 * count);
    }
}

chapter_test::cases! {
    adds_and_copies;
    one_element: "--count 1", 1;
    an_odd_number: "--count 17 --block 32", 17;
    just_a_block: "--count 256", 256;
    one_more_than_a_block: "--count 257", 257;
    blocks_of_one_thread: "--count 1000 --block 1", 1000;
    blocks_of_an_odd_size: "--count 1000 --block 7", 1000;
    the_largest_block: "--count 100001 --block 1024", 100_001;
    the_default_size: "", 4_194_304;
}

/// The rungs, from the note's kernel upwards.
const LADDER: [&str; 5] = ["add", "float4", "pageable", "pinned", "overlapped"];

/// Runs the ladder and fails unless all results are correct and moved the bytes of an addition.
fn run_ladder(arguments: &str, count: u64) -> Vec<Value> {
    let arguments = format!("--variant ladder {arguments}");
    assert_eq!(chapter().record(&arguments)["baseline"], "add");
    let results = chapter().results(&arguments);
    assert_eq!(variants(&results), LADDER);
    assert!(results.iter().all(|result| result["bytes"] == 12 * count));
    results
}

chapter_test::cases! {
    mod ladder, run_ladder;
    one_element: "--count 1", 1;
    fewer_than_four: "--count 3 --block 1", 3;
    four: "--count 4", 4;
    an_odd_number: "--count 17 --block 32", 17;
    a_block_of_vectors: "--count 1024", 1024;
    three_more: "--count 1027", 1027;
    blocks_of_an_odd_size: "--count 1000 --block 7", 1000;
    the_largest_block: "--count 100001 --block 1024", 100_001;
    several_chunks: "--count 2000001", 2_000_001;
}

#[test]
fn each_rung_is_closer_to_its_limit() {
    let results = run_ladder("", 4_194_304);
    let share = |variant: &str| {
        let result = results.iter().find(|result| result["variant"] == variant);
        let limit = &result.unwrap()["limit"];
        (limit["name"].clone(), limit["share"].as_f64().unwrap())
    };
    let [add, float4, pageable, pinned, overlapped] = LADDER.map(share);
    assert_eq!([&add.0, &float4.0], ["copy on the device"; 2]);
    assert_eq!(
        [&pageable.0, &overlapped.0],
        ["the link, both ways at once"; 2]
    );
    assert!(add.1 < float4.1, "{add:?} {float4:?}");
    assert!(pageable.1 < pinned.1 && pinned.1 < overlapped.1 && overlapped.1 < 1.0);
    // A complete addition is compared with no kernel, and no single launch represents it.
    let whole = &results[4];
    assert_eq!(
        (&whole["speedup"], &whole["counters"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(results[0]["speedup"], 1.0);
}

/// Vectors move the same bytes with a quarter of the requests: 32 threads per warp, 4 or 16 bytes each.
#[test]
fn vectors_take_a_quarter_of_the_requests() {
    let results = run_ladder("--count 12800 --block 64", 12_800);
    let counted =
        |metric| [0, 1].map(|index: usize| counter(&results[index], &global(metric, "ld")));
    assert_eq!(counted("requests"), [800, 200]);
    assert_eq!(counted("sectors"), [3200; 2]);
}

#[test]
fn only_selected_rungs_run() {
    for (chosen, expected) in [
        ("float4", &["float4"][..]),
        ("pinned,add", &["add", "pinned"]),
    ] {
        let results = chapter().results(&format!("--count 100 --variant {chosen}"));
        assert_eq!(variants(&results), expected, "{chosen}");
    }
    // The note's kernel always comes with every kind of copy.
    assert_eq!(
        chapter().record("--count 100 --variant add"),
        chapter().record("--count 100")
    );
}

#[test]
fn the_ladder_lists_its_ideas() {
    let run = chapter().run("--count 1000 --variant ladder");
    let rows = body(&run.stdout);
    let starts = [
        "copy on the device",
        "add",
        "float4",
        "the link, both ways at once",
        "pageable",
        "pinned",
        "overlapped",
    ];
    assert_eq!(rows.len(), starts.len(), "{}", run.stdout);
    for (row, start) in rows.iter().zip(starts) {
        assert!(row.starts_with(&format!("| {start} ")), "{row}");
    }
    run.prints(&["of limit"]);
    for rung in LADDER {
        run.notes(&[&format!("\n{rung}")]);
    }
}

#[test]
fn the_table_has_every_row_and_modelled_times() {
    let run = chapter().run("--count 1000");
    let rows = body(&run.stdout);
    assert_eq!(rows.len(), VARIANTS.len(), "{}", run.stdout);
    for (row, variant) in rows.iter().zip(VARIANTS) {
        assert!(row.starts_with(&format!("| {variant} ")), "{row}");
        assert!(row.contains("correct"), "{row}");
    }
    assert!(rows[0].contains(" 12000 "), "{}", rows[0]);
    assert!(rows[1].contains(" 4000 "), "{}", rows[1]);
    run.says_that_times_are_modelled();
    run.prints(&["relative to `host to device`."]);
    run.notes(&["compare GB/s"]);
}

#[test]
fn the_record_has_the_inputs_and_speedups() {
    let record = chapter().record("--count 1000 --block 64 --seed 9 --repeat 3");
    assert_eq!(record["chapter"], "vector-add");
    assert_eq!(record["gpu"]["time"], "modelled");
    let inputs = json!({"count": 1000, "block": 64, "seed": 9});
    assert_eq!(record["inputs"], inputs);
    assert_eq!(record["baseline"], "host to device");
    let results = record["results"].as_array().unwrap();
    // The kernel runs before the baseline.
    assert!(results[0]["speedup"].is_null());
    assert_eq!(results[1]["speedup"], 1.0);
    assert_eq!(results[0]["samples"], 1);
}

#[test]
fn bandwidth_is_bytes_over_time() {
    let record = chapter().record("--count 1000000");
    for result in record["results"].as_array().unwrap() {
        let ms = result["median_ms"].as_f64().unwrap();
        let bytes = result["bytes"].as_f64().unwrap();
        match result["gb_per_s"].as_f64() {
            Some(rate) => assert!((rate * ms * 1e6 / bytes - 1.0).abs() < 1e-9, "{result}"),
            None => assert_eq!(ms, 0.0, "{result}"),
        }
    }
}

#[test]
fn nothing_is_written_to_the_folder() {
    let run = chapter().run("--count 10");
    assert_eq!(std::fs::read_dir(run.folder.path()).unwrap().count(), 0);
}
