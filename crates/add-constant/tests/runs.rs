//! Runs of the real program on the simulator.

use chapter_test::Chapter;
use serde_json::{Value, json};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_add-constant"))
}

/// The record's results; all of them have to be right.
fn results(arguments: &str) -> Vec<Value> {
    let record = chapter().record(arguments);
    let results = record["results"].as_array().unwrap().clone();
    for result in &results {
        assert_eq!(result["verified"], true, "{arguments}: {result}");
        assert_eq!(result["differing"], 0, "{arguments}: {result}");
        assert!(result["gb_per_s"].as_f64().unwrap() > 0.0, "{result}");
    }
    results
}

/// One test a pattern, over sizes and blocks that do not divide them.
macro_rules! every_pattern {
    ($($test:ident: $arguments:literal;)*) => {
        mod one_access_per_block {
            $(#[test] fn $test() { super::adds("one_access_per_block", $arguments) })*
        }
        mod one_access_per_warp {
            $(#[test] fn $test() { super::adds("one_access_per_warp", $arguments) })*
        }
        mod one_access_per_thread {
            $(#[test] fn $test() { super::adds("one_access_per_thread", $arguments) })*
        }
        mod pseudo_random {
            $(#[test] fn $test() { super::adds("pseudo_random", $arguments) })*
        }
    };
}

/// Runs all three variants with the note's two other arguments.
fn adds(pattern: &str, block_and_sums: &str) {
    let results = results(&format!("{pattern} {block_and_sums}"));
    let variants: Vec<&Value> = results.iter().map(|result| &result["variant"]).collect();
    assert_eq!(variants, ["global", "constant", "vector"]);
    assert_eq!(results[0]["pattern"], pattern);
    assert_eq!(results[1]["pattern"], pattern);
    assert_eq!(results[2]["pattern"], Value::Null);
}

every_pattern! {
    one_sum: "1024 1";
    fewer_sums_than_a_block_has_threads: "1024 17";
    a_block_of_one_thread: "1 1003";
    a_block_of_odd_size: "7 1001";
    blocks_that_do_not_divide_the_sums: "96 1022";
    the_largest_block: "1024 4097";
    more_blocks_than_values: "1 20000";
    the_notes_smaller_size: "1024 128000";
}

#[test]
fn every_rest_of_four_sums() {
    for sums in 1..=9 {
        results(&format!("--pattern pseudo_random --block 2 --sums {sums}"));
    }
}

#[test]
fn the_table_has_all_patterns_and_both_sizes() {
    let run = chapter().runs("");
    let mut wanted = Vec::new();
    for sums in ["12800000", "128000"] {
        for pattern in [
            "one_access_per_block",
            "one_access_per_warp",
            "one_access_per_thread",
            "pseudo_random",
        ] {
            wanted.push(["global", sums, pattern]);
            wanted.push(["constant", sums, pattern]);
        }
        wanted.push(["vector", sums, "–"]);
    }
    let rows: Vec<&str> = run.stdout.lines().skip(2).collect();
    assert_eq!(rows.len(), wanted.len(), "{}", run.stdout);
    for (row, wanted) in rows.into_iter().zip(wanted) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[..3], wanted, "{row}");
        assert!(row.contains("modelled, NVIDIA H200"), "{row}");
        assert!(row.ends_with("| right |"), "{row}");
        if wanted[0] == "global" {
            assert_eq!(cells[6], "1.00", "{row}");
        }
    }
    assert!(!run.stdout.contains("measured"), "{}", run.stdout);
    for note in [
        "simulator: models an NVIDIA H200",
        "Compare `constant` with `global`",
        "These times are a model's; run on a GPU to measure.",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
}

#[test]
fn standard_output_is_one_json_record() {
    let record = chapter().record("pseudo_random --block 96 --sums 1001 --seed 9");
    assert_eq!(record["chapter"], "add-constant");
    assert_eq!(record["gpu"]["time"], "modelled");
    assert_eq!(
        record["inputs"],
        json!({"patterns": ["pseudo_random"], "block": 96, "sums": [1001], "seed": 9})
    );
    assert_eq!(record["baseline"], "global");
    let constant = &record["results"][1];
    assert_eq!(constant["variant"], "constant");
    assert_eq!(constant["sums"], 1001);
    assert_eq!(constant["samples"], 1);
    let rate = 8.0 * 1001.0 / 1e6 / constant["median_ms"].as_f64().unwrap();
    assert_eq!(constant["gb_per_s"].as_f64(), Some(rate));
}

#[test]
fn the_same_run_twice_gives_the_same_record() {
    let arguments = "--sums 5000 --block 128";
    assert_eq!(chapter().record(arguments), chapter().record(arguments));
}

#[test]
fn scattered_accesses_are_slow_in_constant_memory() {
    let together = &results("one_access_per_warp 1024 128000")[1];
    let scattered = &results("pseudo_random 1024 128000")[1];
    assert!(
        scattered["median_ms"].as_f64() > together["median_ms"].as_f64(),
        "{scattered}\n{together}"
    );
}

#[test]
fn counters_advice_and_source_lines() {
    chapter().profiles(
        "pseudo_random 128 1000",
        &[
            ("global", "inputs[i] + values[index]"),
            ("constant", "if (i < num_sums) sums[i] = inputs[i]"),
            ("vector", "int4 input = "),
        ],
    );
}

#[test]
fn constant_memory_is_asked_once_for_each_value_of_a_warp() {
    // A hundred warps.
    for (pattern, requests) in [
        ("one_access_per_block", 100),
        ("one_access_per_warp", 100),
        ("one_access_per_thread", 3200),
        ("pseudo_random", 3200),
    ] {
        let results = results(&format!("{pattern} 128 3200"));
        let counters = &results[1]["counters"];
        assert_eq!(counters["idc__requests.sum"], requests, "{pattern}");
        assert_eq!(results[0]["counters"]["idc__requests.sum"], 0, "{pattern}");
    }
}

/// One load and one store of 512 bytes a warp, which are 16 sectors.
#[test]
fn a_vector_is_one_access() {
    let results = results("pseudo_random 64 12800");
    for op in ["ld", "st"] {
        let counted = |what: &str| {
            let name = format!("l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum");
            results[2]["counters"][name].as_u64()
        };
        assert_eq!(counted("requests"), Some(100));
        assert_eq!(counted("sectors"), Some(1600));
    }
}

#[test]
fn scattered_constants_are_what_to_change_first() {
    let run = chapter().runs("--pattern pseudo_random --sums 128000 --profile");
    let wanted = "\nconstant: kernels/add-constant.cu:69: each warp reads 32 distinct constant \
                  addresses: 32 requests";
    assert!(run.stdout.contains(wanted), "{}", run.stdout);
    let row = chapter_test::row(&run.stdout, "constant requests");
    assert_eq!(row, ["constant requests", "0", "128 000"]);
    let row = chapter_test::row(&run.stdout, "– requests a load");
    assert_eq!(row, ["– requests a load", "–", "32"]);
    // One a warp is no advice.
    let run = chapter().runs("--pattern one_access_per_warp --sums 128000 --profile");
    assert!(!run.stdout.contains("distinct"), "{}", run.stdout);
}

#[test]
fn output_that_nobody_takes() {
    chapter().copes_without_readers("--sums 17");
}
