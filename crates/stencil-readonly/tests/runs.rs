//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{global, row, variants};
use serde_json::{Value, json};

chapter_test::chapter! {
    "stencil-readonly";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--size 5000");
    profiles_have_counters_advice_and_source_lines: check_profile("--size 1000", &[
        ("constant", "fmaf(coef[i]"),
        ("__ldg", "fmaf(c[i]"),
        ("const __restrict__", "fmaf(c[i]"),
    ]);
    repeat_0_measures_no_limits: measures_no_limits("--size 100 --variant read-only");
    unwritable_output_is_handled: survives_closed_output("--size 17");
    checks_have_no_findings:
        check_finds_nothing("--size 1001"), check_finds_nothing("--size 5000 --variant ladder");
}

/// Returns the results of the three kernels and the copy, and fails unless all are correct.
fn results(arguments: &str) -> Vec<Value> {
    let results = chapter().results(arguments);
    for result in &results {
        assert!(result["gb_per_s"].as_f64().unwrap() > 0.0, "{result}");
    }
    let (copy, kernels) = results.split_last().unwrap();
    assert_eq!(copy["variant"], "device copy");
    assert_eq!(copy["largest_error"], Value::Null);
    for result in kernels {
        // The coefficients' error, increased or decreased by rounding.
        let error = result["largest_error"].as_f64().unwrap();
        assert!((1.84e-5..2.1e-5).contains(&error), "{arguments}: {result}");
    }
    results
}

fn three_kernels_and_the_copy_run(size_and_block: &str) {
    assert_eq!(results(size_and_block).len(), 4);
}

chapter_test::cases! {
    three_kernels_and_the_copy_run;
    one_point: "--size 1 --block 32";
    one_point_and_the_smallest_block: "--size 1 --block 4";
    fewer_points_than_the_halo_has: "--size 3 --block 256";
    a_last_block_of_one_point: "--size 1025 --block 32";
    a_last_block_of_four_points: "--size 100 --block 32";
    a_last_block_of_all_points_but_one: "--size 1023 --block 32";
    a_last_block_with_the_halo_in_the_middle: "--size 300 --block 256";
    a_block_of_odd_size: "--size 10001 --block 37";
    the_smallest_block: "--size 1001 --block 4";
    the_largest_block: "--size 5000 --block 1024";
    whole_blocks: "--size 8192 --block 256";
}

/// Runs the ladder and fails unless all kernels are correct and have a limit.
fn run_ladder(arguments: &str) {
    let results = chapter().results(&format!("--variant ladder {arguments}"));
    let rungs = ["constant", "cached", "vectors", "aligned", "read only"];
    assert_eq!(variants(&results), rungs, "{arguments}");
    for result in results {
        assert_eq!(result["limit"]["name"], "copy on the device");
        assert!(result["limit"]["share"].as_f64().unwrap() > 0.0);
    }
}

// Sizes that are not whole vectors, and blocks that begin or end with the last vector.
chapter_test::cases! {
    mod ladder, run_ladder;
    one_point: "--size 1";
    one_point_less_than_a_vector: "--size 3";
    one_vector: "--size 4";
    a_vector_and_a_point: "--size 5 --block 4";
    a_block_of_vectors: "--size 1024";
    a_block_but_for_the_halo: "--size 1020";
    the_first_point_of_a_second_block: "--size 1021";
    a_last_vector_of_three: "--size 10007 --block 37";
    the_largest_block: "--size 50001 --block 1024";
    the_notes_size: "";
}

#[test]
fn rungs_are_selected_by_name_and_their_ideas_listed() {
    let run = chapter().run("--size 100 --variant read-only,constant");
    assert_eq!(row(&run.stdout, "copy on the device")[6], "100 %");
    let first = run.stdout.find("| constant").unwrap();
    assert!(first < run.stdout.find("| read only").unwrap());
    run.lacks("device copy");
    run.notes(&["read only  Coefficients through the read-only cache"]);
    // Without a rung there is no limit, and the copy has its own row.
    let run = chapter().run("--size 100 --variant __ldg");
    run.lacks("limit");
    run.prints(&["device copy"]);
}

/// Each of 1024 points has eight neighbours, which a warp loads in five sectors if they cross a boundary; in
/// vectors a warp's 128 points span 17 sectors, or 16 if the warp starts at a sector boundary.
#[test]
fn each_rung_needs_fewer_memory_accesses() {
    let record = chapter().record("--variant ladder --size 16384");
    let warps = 16384 / 32;
    let count = |rung: usize, name: &str| record["results"][rung]["counters"][name].clone();
    let [loads, stores] = ["ld", "st"].map(|op| global("requests", op));
    let stored = &global("sectors", "st");
    let [cached, vectors, aligned] = [1, 2, 3];
    assert_eq!(count(cached, &loads), 8 * warps);
    assert_eq!(count(cached, "smsp__inst_executed_op_shared_ld.sum"), 0);
    assert_eq!(count(cached, "warps_at_barriers"), 0);
    assert_eq!(count(vectors, &loads), 3 * warps / 4);
    assert_eq!(count(vectors, &stores), warps / 4);
    assert_eq!(count(vectors, stored), 17 * warps / 4);
    // The last vector is alone in its warp and fills half a sector.
    assert_eq!(count(aligned, stored), 16 * warps / 4 + 1);
}

#[test]
fn the_notes_size_is_the_default() {
    let results = results("");
    let of = |result: &Value| (result["variant"].clone(), result["block"].clone());
    let rows: Vec<(Value, Value)> = results.iter().map(of).collect();
    let mut expected = Vec::new();
    for block in [32, 256] {
        for variant in ["constant", "__ldg", "const __restrict__"] {
            expected.push((json!(variant), json!(block)));
        }
    }
    expected.push((json!("device copy"), Value::Null));
    assert_eq!(rows, expected);
    assert_eq!(results[3]["speedup"], 1.0);
}

#[test]
fn the_table_has_every_variant_and_the_notes_explain_the_error() {
    let run = chapter().run("--size 2000 --block 64");
    for variant in ["constant", "__ldg", "const __restrict__", "device copy"] {
        let row = row(&run.stdout, variant);
        assert_eq!(row.last(), Some(&"correct"), "{row:?}");
    }
    run.says_that_times_are_modelled();
    run.notes(&["cause an error\nof 1.97e-5, and rounding to 32 bits adds at most 1.28e-6"]);
}

#[test]
fn standard_output_is_one_json_record() {
    let record = chapter().record("--size 2001 --block 96");
    assert_eq!(record["chapter"], "stencil-readonly");
    assert_eq!(record["gpu"]["time"], "modelled");
    assert_eq!(record["inputs"], json!({"size": 2001, "blocks": [96]}));
    assert_eq!(record["baseline"], "constant");
    let explained = &record["explained_error"];
    assert!(explained["by_coefficients"].as_f64() > explained["by_rounding"].as_f64());
    let rate = |result: &Value, points: f64| {
        let rate = 8.0 * points / 1e6 / result["median_ms"].as_f64().unwrap();
        assert_eq!(result["gb_per_s"].as_f64(), Some(rate));
    };
    rate(&record["results"][0], 2001.0);
    rate(&record["results"][3], 2009.0);
}

/// The counters equal those of Nsight Compute for the note's kernel: a warp's points span five sectors of 32
/// bytes, because a halo of 16 bytes precedes the first; each end of the halo is in another sector, and each
/// of the four coefficients in its own.
#[test]
fn memory_accesses_match_the_notes_kernel() {
    let record = chapter().record("--size 16384 --block 32");
    let restrict = &record["results"][2];
    assert_eq!(restrict["variant"], "const __restrict__");
    let warps = 16384 / 32;
    for (name, expected) in [
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 3 + 4),
        (
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            5 + 1 + 1 + 4,
        ),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 1),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 5),
        ("smsp__inst_executed_op_shared_ld.sum", 8),
        ("smsp__inst_executed_op_shared_st.sum", 3),
        ("warps_at_barriers", 1),
    ] {
        assert_eq!(restrict["counters"][name], expected * warps, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run() {
    let long = |times| format!("--size {} --block 4", 33_554_432 * times);
    chapter().exits_on_ctrl_c(long, "stencil_constant on the simulator");
}
