//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::Chapter;
use serde_json::{Value, json};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_add-constant"))
}

/// Returns the record's results and fails unless all of them are correct.
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

/// Defines one test per pattern, with sizes and blocks that do not divide them.
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

/// Runs all three variants with the note's other two arguments.
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
fn all_remainders_of_four_are_added() {
    for sums in 1..=9 {
        results(&format!("--pattern pseudo_random --block 2 --sums {sums}"));
    }
}

#[test]
fn the_table_has_all_patterns_and_both_sizes() {
    let run = chapter().run("");
    let mut expected = Vec::new();
    for sums in ["12800000", "128000"] {
        for pattern in ["per_block", "per_warp", "per_thread", "pseudo_random"] {
            expected.push(["global", sums, pattern]);
            expected.push(["constant", sums, pattern]);
        }
        expected.push(["vector", sums, "–"]);
    }
    let rows: Vec<&str> = run
        .stdout
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), expected.len(), "{}", run.stdout);
    for (row, expected) in rows.into_iter().zip(expected) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[..3], expected, "{row}");
        assert!(row.ends_with("| correct |"), "{row}");
        if expected[0] == "global" {
            assert_eq!(cells[5], "1.00", "{row}");
        }
    }
    let legend = "Times: modelled, NVIDIA H200. Speedup: relative to `global`.";
    assert!(run.stdout.contains(legend), "{}", run.stdout);
    for note in [
        "simulator: models an NVIDIA H200",
        "Compare `constant` with `global`",
        "Modelled times are estimates; run on a GPU to measure.",
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
fn profiles_have_counters_advice_and_source_lines() {
    chapter().check_profile(
        "pseudo_random 128 1000",
        &[
            ("global", "inputs[i] + values[index]"),
            ("constant", "if (i < num_sums) sums[i] = inputs[i]"),
            ("vector", "int4 input = "),
        ],
    );
}

#[test]
fn constant_memory_has_one_request_per_distinct_address() {
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

/// One load and one store of 512 bytes per warp, 16 sectors each.
#[test]
fn a_vector_is_one_access() {
    let results = results("pseudo_random 64 12800");
    for op in ["ld", "st"] {
        let counted = |metric: &str| {
            let name = format!("l1tex__t_{metric}_pipe_lsu_mem_global_op_{op}.sum");
            results[2]["counters"][name].as_u64()
        };
        assert_eq!(counted("requests"), Some(100));
        assert_eq!(counted("sectors"), Some(1600));
    }
}

#[test]
fn scattered_constants_are_the_first_advice() {
    let run = chapter().run("--pattern pseudo_random --sums 128000 --profile");
    let expected = "\nconstant: kernels/add-constant.cu:82: each warp reads 32 distinct constant \
                  addresses: 32 requests";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let row = chapter_test::row(&run.stdout, "constant requests");
    assert_eq!(row, ["constant requests", "0", "128 000"]);
    let row = chapter_test::row(&run.stdout, "– requests per load");
    assert_eq!(row, ["– requests per load", "–", "32"]);
    // One request per load is the minimum, so there is no advice.
    let run = chapter().run("--pattern one_access_per_warp --sums 128000 --profile");
    assert!(!run.stdout.contains("distinct"), "{}", run.stdout);
}

/// The rungs, the note's kernels first.
const LADDER: [&str; 7] = [
    "global",
    "constant",
    "constant int4",
    "constant kept",
    "global int4",
    "read-only int4",
    "shared",
];

/// Runs the ladder in every pattern with `block` and `sums`.
fn run_ladder(block: u32, sums: u32) -> Vec<Value> {
    let results = results(&format!("--variant ladder --block {block} --sums {sums}"));
    let variants: Vec<&Value> = results.iter().map(|result| &result["variant"]).collect();
    assert_eq!(variants[..28], LADDER.repeat(4)[..]);
    assert_eq!(variants[28..], ["vector"]);
    for result in &results {
        assert_eq!(result["limit"]["name"], "copy on the device");
    }
    results
}

macro_rules! ladders {
    ($($test:ident: $block:literal, $sums:literal;)*) => {
        mod ladder {
            $(#[test] fn $test() { super::run_ladder($block, $sums); })*
        }
    };
}

ladders! {
    one_sum: 1024, 1;
    fewer_sums_than_a_block_has_threads: 1024, 17;
    a_thread_a_block: 4, 1003;
    a_width_that_does_not_divide_a_block: 12, 1001;
    blocks_that_do_not_divide_the_sums: 96, 1022;
    just_eight_blocks: 128, 1024;
    three_more_than_whole_blocks: 128, 1027;
    the_largest_block: 1024, 4097;
    more_blocks_than_values: 4, 70_001;
    // More vectors than all resident blocks of the shared kernel take at once.
    more_than_a_full_wave: 1020, 1_300_003;
}

/// All remainders of four, the values of all four patterns, and blocks of each kind.
#[test]
fn all_remainders_are_added_on_the_ladder() {
    for sums in 1..=9 {
        run_ladder(4, sums);
    }
}

#[test]
fn counters_improve_along_the_ladder() {
    // A hundred of the note's warps in four blocks.
    let results = run_ladder(800, 3200);
    let counted = |pattern: usize, rung: usize, name: &str| {
        results[7 * pattern + rung]["counters"][name]
            .as_u64()
            .unwrap()
    };
    let [global, constant, int4, kept, global_int4, _, shared] = [0, 1, 2, 3, 4, 5, 6];
    let [per_warp, random] = [1, 3];
    let loads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
    let stores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
    let lookups = "idc__requests.sum";
    // Blocks of 200 threads have seven warps instead of 25.
    assert_eq!(
        [constant, int4].map(|rung| counted(per_warp, rung, stores)),
        [100, 28]
    );
    assert_eq!(
        [constant, int4].map(|rung| counted(per_warp, rung, loads)),
        [100, 28]
    );
    // `constant int4` issues the same number of requests to the constant cache as `constant`, one per distinct
    // value. `constant kept` issues a quarter of them, because a block computes four of the note's blocks.
    assert_eq!(
        [constant, int4, kept].map(|rung| counted(random, rung, lookups)),
        [3200, 3200, 800]
    );
    assert_eq!(
        [global, global_int4, shared].map(|rung| counted(random, rung, lookups)),
        [0; 3]
    );
    let bytes = |rung| {
        counted(
            random,
            rung,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        )
    };
    // The shared kernel copies the values of all patterns; the other one reads only those it needs.
    assert!(bytes(shared) > 2048 && counted(random, global_int4, loads) == 28 * 5);
    // Five rows of 200 threads are 32 warps, with four reads each.
    let shared_loads = "smsp__inst_executed_op_shared_ld.sum";
    assert_eq!(counted(random, shared, shared_loads), 32 * 4);
}

#[test]
fn the_shared_rung_needs_64_kb_per_block() {
    let old = chapter().with_env("CUDA_SIM_DEVICE", "p2000");
    let run = old.run("pseudo_random 64 1000 --variant ladder");
    assert!(!run.stdout.contains("| shared"), "{}", run.stdout);
    let expected = "left out: shared needs compute capability 7.0, and the ";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn the_ladder_lists_its_ideas() {
    let run = chapter().run("pseudo_random 64 1000 --variant shared,global");
    let rows: Vec<&str> = run
        .stdout
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    for (row, start) in rows
        .iter()
        .zip(["copy on the device", "global", "shared", "vector"])
    {
        assert!(row.starts_with(&format!("| {start} ")), "{row}");
    }
    for rung in ["shared  values in shared", "global  the note's kernel"] {
        assert!(run.stderr.contains(rung), "{}", run.stderr);
    }
}

#[test]
fn repeat_0_measures_no_limits() {
    let run = chapter().run("pseudo_random 64 1000 --variant shared --repeat 0");
    assert!(!run.stdout.contains("limit"), "{}", run.stdout);
}

#[test]
fn unwritable_output_is_handled() {
    chapter().survives_closed_output("--sums 17");
}

#[test]
fn checks_have_no_findings() {
    chapter().check_finds_nothing("--sums 1000");
    chapter().check_finds_nothing("--sums 1001 --variant ladder");
}
