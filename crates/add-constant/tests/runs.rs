//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{body, counter, global, row, variants};
use serde_json::{Value, json};

chapter_test::chapter! {
    "add-constant";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--sums 5000 --block 128");
    profiles_have_counters_advice_and_source_lines: check_profile("pseudo_random 128 1000", &[
        ("global", "inputs[i] + values[index]"),
        ("constant", "if (i < num_sums) sums[i] = inputs[i]"),
        ("vector", "int4 input = "),
    ]);
    repeat_0_measures_no_limits: measures_no_limits("pseudo_random 64 1000 --variant shared");
    unwritable_output_is_handled: survives_closed_output("--sums 17");
    checks_have_no_findings:
        check_finds_nothing("--sums 1000"), check_finds_nothing("--sums 1001 --variant ladder");
}

/// Returns the record's results and fails unless all of them are correct and have a bandwidth.
fn results(arguments: &str) -> Vec<Value> {
    let results = chapter().results(arguments);
    for result in &results {
        assert!(result["gb_per_s"].as_f64().unwrap() > 0.0, "{result}");
    }
    results
}

/// Defines one test per pattern, with sizes and blocks that do not divide them.
macro_rules! every_pattern {
    ($($test:ident: $arguments:literal;)*) => {
        every_pattern! { one_access_per_block $($test: $arguments;)* }
        every_pattern! { one_access_per_warp $($test: $arguments;)* }
        every_pattern! { one_access_per_thread $($test: $arguments;)* }
        every_pattern! { pseudo_random $($test: $arguments;)* }
    };
    ($pattern:ident $($test:ident: $arguments:literal;)*) => {
        chapter_test::cases! {
            mod $pattern, adds;
            $($test: stringify!($pattern), $arguments;)*
        }
    };
}

/// Runs all three variants with the note's other two arguments.
fn adds(pattern: &str, block_and_sums: &str) {
    let results = results(&format!("{pattern} {block_and_sums}"));
    assert_eq!(variants(&results), ["global", "constant", "vector"]);
    let patterns = [0, 1, 2].map(|index| &results[index]["pattern"]);
    assert_eq!(patterns, [&json!(pattern), &json!(pattern), &Value::Null]);
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
    let rows = body(&run.stdout);
    assert_eq!(rows.len(), expected.len(), "{}", run.stdout);
    for (row, expected) in rows.into_iter().zip(expected) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[..3], expected, "{row}");
        assert!(row.ends_with("| correct |"), "{row}");
        if expected[0] == "global" {
            assert_eq!(cells[5], "1.00", "{row}");
        }
    }
    run.says_that_times_are_modelled();
    run.prints(&["relative to `global`."]);
    run.notes(&["Compare `constant` with `global`"]);
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
fn scattered_accesses_are_slow_in_constant_memory() {
    let together = &results("one_access_per_warp 1024 128000")[1];
    let scattered = &results("pseudo_random 1024 128000")[1];
    assert!(
        scattered["median_ms"].as_f64() > together["median_ms"].as_f64(),
        "{scattered}\n{together}"
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
        let counted = [0, 1].map(|index| counter(&results[index], "idc__requests.sum"));
        assert_eq!(counted, [0, requests], "{pattern}");
    }
}

/// One load and one store of 512 bytes per warp, 16 sectors each.
#[test]
fn a_vector_is_one_access() {
    let results = results("pseudo_random 64 12800");
    for op in ["ld", "st"] {
        let counted = |metric| counter(&results[2], &global(metric, op));
        assert_eq!(["requests", "sectors"].map(counted), [100, 1600]);
    }
}

#[test]
fn scattered_constants_are_the_first_advice() {
    let run = chapter().run("--pattern pseudo_random --sums 128000 --profile");
    let expected = "\nconstant: kernels/add-constant.cu:82: each warp reads 32 distinct constant \
                  addresses: 32 requests";
    run.prints(&[expected]);
    let cells = |name| row(&run.stdout, name)[1..].to_vec();
    assert_eq!(cells("constant requests"), ["0", "128 000"]);
    assert_eq!(cells("– requests per load"), ["–", "32"]);
    // One request per load is the minimum, so there is no advice.
    let run = chapter().run("--pattern one_access_per_warp --sums 128000 --profile");
    run.lacks("distinct");
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
    let rungs = [&LADDER.repeat(4)[..], &["vector"]].concat();
    assert_eq!(variants(&results), rungs);
    for result in &results {
        assert_eq!(result["limit"]["name"], "copy on the device");
    }
    results
}

chapter_test::cases! {
    mod ladder, run_ladder;
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
    let counted = |pattern: usize, rungs: &[usize], name: &str| -> Vec<u64> {
        let counted = |rung: &usize| counter(&results[7 * pattern + rung], name);
        rungs.iter().map(counted).collect()
    };
    let [note, constant, int4, kept, global_int4, _, shared] = [0, 1, 2, 3, 4, 5, 6];
    let [per_warp, random] = [1, 3];
    let [loads, stores] = ["ld", "st"].map(|op| global("requests", op));
    let lookups = "idc__requests.sum";
    // Blocks of 200 threads have seven warps instead of 25.
    for requests in [&stores, &loads] {
        assert_eq!(counted(per_warp, &[constant, int4], requests), [100, 28]);
    }
    // `constant int4` issues the same number of requests to the constant cache as `constant`, one per distinct
    // value. `constant kept` issues a quarter of them, because a block computes four of the note's blocks.
    let rungs = [constant, int4, kept, note, global_int4, shared];
    assert_eq!(counted(random, &rungs, lookups), [3200, 3200, 800, 0, 0, 0]);
    // The shared kernel copies the values of all patterns; the other one reads only those it needs.
    assert!(counted(random, &[shared], &global("sectors", "ld"))[0] > 2048);
    assert_eq!(counted(random, &[global_int4], &loads), [28 * 5]);
    // Five rows of 200 threads are 32 warps, with four reads each.
    let shared_loads = "smsp__inst_executed_op_shared_ld.sum";
    assert_eq!(counted(random, &[shared], shared_loads), [32 * 4]);
}

#[test]
fn the_shared_rung_needs_64_kb_per_block() {
    let old = chapter().with_env("CUDA_SIM_DEVICE", "p2000");
    let run = old.run("pseudo_random 64 1000 --variant ladder");
    run.lacks("| shared");
    run.notes(&["left out: shared needs compute capability 7.0, and the "]);
}

#[test]
fn the_ladder_lists_its_ideas() {
    let run = chapter().run("pseudo_random 64 1000 --variant shared,global");
    let starts = ["copy on the device", "global", "shared", "vector"];
    for (row, start) in body(&run.stdout).iter().zip(starts) {
        assert!(row.starts_with(&format!("| {start} ")), "{row}");
    }
    run.notes(&["shared  values in shared", "global  the note's kernel"]);
}
