//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{Chapter, row};
use serde_json::{Value, json};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-tiled"))
}

/// Runs the notes' kernels and the ladder, and fails unless every result equals the reference and the counted
/// accesses equal the formula.
fn assert_correct(arguments: &str) {
    let record = chapter().record(&format!("{arguments} --variant book,ladder"));
    let results = record["results"].as_array().unwrap();
    let variants: Vec<_> = results.iter().map(|result| &result["variant"]).collect();
    assert_eq!(
        variants,
        [
            "pitched",
            "tiled 8",
            "tiled 16",
            "tiled 32",
            "columns",
            "squares",
            "vectors",
            "warp tiles",
            "double buffer",
            "async",
            "even shares",
            "split k",
            "tensor cores",
            "warpgroups"
        ]
    );
    assert_results_correct(results);
}

/// Fails unless every result equals the reference and has as many accesses as the formula predicts.
fn assert_results_correct(results: &[Value]) {
    for result in results {
        assert_eq!(result["verified"], true, "{result}");
        assert_eq!(result["differing"], 0, "{result}");
        assert!(result["accesses_counted"].is_u64(), "{result}");
        assert_eq!(
            result["accesses_counted"], result["accesses_formula"],
            "{result}"
        );
    }
}

/// Defines one test per line.
macro_rules! sizes {
    ($($test:ident: $arguments:literal;)*) => {
        $(#[test] fn $test() { assert_correct($arguments) })*
    };
}

sizes! {
    one_element: "--m 1 --n 1 --p 1";
    one_row_times_a_matrix: "--m 1 --n 37 --p 53";
    a_matrix_times_one_column: "--m 53 --n 37 --p 1";
    a_column_times_a_row: "--m 33 --n 1 --p 18";
    odd_sizes: "--m 17 --n 13 --p 31 --seed 2";
    smaller_than_the_smallest_tile: "--m 7 --n 5 --p 3";
    sizes_of_the_largest_tile: "--m 32 --n 32 --p 32";
    one_less_than_a_tile: "--m 31 --n 31 --p 31";
    one_more_than_a_tile: "--m 33 --n 33 --p 33";
    no_multiples_of_any_tile: "--m 100 --n 70 --p 130";
    one_more_than_the_largest_tile: "--m 129 --n 9 --p 129";
    one_less_than_two_of_the_largest_tiles: "--m 255 --n 7 --p 255";
    rows_that_end_within_a_four: "--m 130 --n 10 --p 126";
    the_notes_sizes: "";
    the_notes_matrices: "--fill identity";
    identities_that_are_not_square: "--m 40 --n 20 --p 30 --fill identity";
    tensor_cores_whole_tiles_and_edges: "--m 645 --n 170 --p 259 --seed 3";
    sums_of_many_parts: "--m 70 --n 1003 --p 66";
    an_odd_number_of_steps: "--m 257 --n 95 --p 129 --seed 5";
    another_block_for_the_pitched_kernel: "--m 50 --n 61 --p 100 --block 7x5";
}

/// More tiles than resident blocks, so that tiles are passed on from block to block.
#[test]
fn tiles_are_passed_on_between_blocks() {
    let assert_correct = |chapter: Chapter, sizes: &str| {
        let record = chapter.record(&format!("{sizes} --variant async,even-shares"));
        let results = record["results"].as_array().unwrap();
        assert_results_correct(results);
        // Tiles that are passed on are stored and loaded once more.
        let accesses = |rung: usize| results[rung]["accesses_counted"].as_u64().unwrap();
        assert!(accesses(1) > accesses(0), "{sizes}");
    };
    // 272 tiles of 2 steps, and 289 of 4 with edges, for 264 blocks; 182 of 4 for fewer.
    assert_correct(chapter(), "--m 2176 --n 20 --p 2048");
    assert_correct(chapter(), "--m 2057 --n 61 --p 2111");
    let smaller = chapter().with_env("CUDA_SIM_DEVICE", "rtx3090");
    assert_correct(smaller, "--m 1700 --n 50 --p 1600");
}

/// If C has slightly more tiles than resident blocks, equal shares are faster, and the rung launches the
/// kernel of the one before.
#[test]
fn many_tiles_use_even_shares_and_few_are_split() {
    let record = chapter().record("--m 1920 --n 512 --p 2304 --variant even-shares,split-k");
    let results = record["results"].as_array().unwrap();
    assert_results_correct(results);
    assert_eq!(
        results[0]["accesses_counted"],
        results[1]["accesses_counted"]
    );
    assert_eq!(results[0]["median_ms"], results[1]["median_ms"]);

    let record = chapter().record("--m 480 --n 640 --p 320 --variant tiled-16,even-shares,split-k");
    let results = record["results"].as_array().unwrap();
    assert_results_correct(results);
    let ms = |rung: usize| results[rung]["median_ms"].as_f64().unwrap();
    assert!(ms(2) < 0.5 * ms(0) && ms(2) < 0.5 * ms(1), "{results:?}");
}

#[test]
fn rungs_with_asynchronous_copies_need_compute_capability_8() {
    let old = chapter().with_env("CUDA_SIM_DEVICE", "p2000");
    let run = old.run("--m 9 --n 9 --p 9 --variant ladder");
    for rung in ["async", "even shares", "split k", "tensor cores"] {
        let left_out = format!("left out: {rung} needs compute capability 8.0");
        assert!(run.stderr.contains(&left_out), "{}", run.stderr);
        assert!(!run.stdout.contains(rung), "{}", run.stdout);
    }
    assert!(row(&run.stdout, "double buffer").contains(&"correct"));
}

#[test]
fn warpgroups_need_compute_capability_9() {
    let other = chapter().with_env("CUDA_SIM_DEVICE", "rtx3090");
    let run = other.run("--m 9 --n 9 --p 9 --variant split-k,warpgroups");
    let left_out = "left out: warpgroups needs compute capability 9.0 and no newer";
    assert!(run.stderr.contains(left_out), "{}", run.stderr);
    assert!(!run.stdout.contains("warpgroups"), "{}", run.stdout);
    assert!(row(&run.stdout, "split k").contains(&"correct"));
}

#[test]
fn rungs_with_too_much_shared_memory_are_left_out() {
    let smaller = chapter().with_env("CUDA_SIM_DEVICE", "rtx3090");
    let run = smaller.run("--m 9 --n 9 --p 9 --variant even-shares,tensor-cores");
    let left_out = "left out: tensor cores needs 190464 bytes of shared memory per block, \
                    and this GPU allows 101376";
    assert!(run.stderr.contains(left_out), "{}", run.stderr);
    assert!(!run.stdout.contains("tensor cores"), "{}", run.stdout);
    assert!(row(&run.stdout, "even shares").contains(&"correct"));
}

#[test]
fn the_record_lists_the_kernels() {
    let variants = |arguments: &str| {
        let record = chapter().record(&format!("--m 2 --n 2 --p 2 {arguments}"));
        record["inputs"]["variants"].clone()
    };
    let book = json!(["pitched", "tiled 8", "tiled 16", "tiled 32"]);
    assert_eq!(variants(""), book);
    assert_eq!(variants("--variant book"), book);
    assert_eq!(variants("--variant vectors"), json!(["vectors"]));
}

#[test]
fn the_ladder_shows_its_limit_and_its_ideas() {
    let small = "--m 70 --n 20 --p 30";
    let run = chapter().run(&format!("{small} --variant ladder"));
    let limit = row(&run.stdout, "multiply-adds alone");
    assert!(limit.contains(&"100 %"), "{limit:?}");
    assert!(
        row(&run.stdout, "squares")
            .iter()
            .any(|cell| cell.ends_with(" %"))
    );
    assert!(
        run.stderr
            .contains("squares        Each thread computes 8x8")
    );
    // Multiply-adds are no limit for tensor cores.
    let tensor_cores = row(&run.stdout, "tensor cores");
    assert!(!tensor_cores.iter().any(|cell| cell.ends_with(" %")));
    let book = chapter().run(small);
    assert!(!book.stdout.contains("limit"), "{}", book.stdout);
}

#[test]
fn wavefronts_and_requests_decrease_along_the_ladder() {
    let record = chapter().record("--m 128 --n 64 --p 128 --variant ladder --profile");
    let counted = |variant: &str, counter: &str| {
        let results = record["results"].as_array().unwrap();
        let mut of = results.iter().filter(|result| result["variant"] == variant);
        of.next().unwrap()["counters"][counter].as_u64().unwrap()
    };
    let less = |counter: &str, rungs: &[&str]| {
        for pair in rungs.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|rung| counted(rung, counter));
            assert!(after < before, "{counter}: {pair:?} {before} {after}");
        }
    };
    let loads = "smsp__inst_executed_op_shared_ld.sum";
    less(loads, &["tiled 16", "columns", "squares"]);
    let wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    less(wavefronts, &["vectors", "warp tiles"]);
    let requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
    less(
        requests,
        &["pitched", "tiled 16", "columns", "squares", "vectors"],
    );
}

#[test]
fn accesses_match_the_note_at_its_sizes() {
    let record = chapter().record("");
    let counted = |index: usize| {
        record["results"][index]["accesses_counted"]
            .as_u64()
            .unwrap()
    };
    let (products, elements) = (480 * 640 * 320, 480 * 320);
    assert_eq!(counted(0), 2 * products + elements);
    assert_eq!(counted(1), 2 * products / 8 + elements);
    assert_eq!(counted(2), 2 * products / 16 + elements);
    assert_eq!(counted(3), 2 * products / 32 + elements);
}

#[test]
fn the_table_has_every_variant_and_modelled_times() {
    let run = chapter().run("--m 40 --n 30 --p 20");
    for (variant, accesses) in [
        ("pitched", 2 * 40 * 30 * 20 + 40 * 20),
        ("tiled 8", 40 * 30 * 3 + 30 * 20 * 5 + 40 * 20),
        ("tiled 16", 40 * 30 * 2 + 30 * 20 * 3 + 40 * 20),
        ("tiled 32", 40 * 30 + 30 * 20 * 2 + 40 * 20),
    ] {
        let row = row(&run.stdout, variant);
        // Once by the formula and once counted.
        let accesses = accesses.to_string();
        let both = row.iter().filter(|&&cell| cell == accesses);
        assert_eq!(both.count(), 2, "{row:?}");
        assert_eq!(row.last(), Some(&"correct"), "{row:?}");
    }
    let legend = "\n\nTimes: modelled, NVIDIA H200. Speedup: relative to ";
    assert!(run.stdout.contains(legend), "{}", run.stdout);
    for part in [
        "simulator: models an NVIDIA H200",
        "Modelled times are estimates",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn one_tile_is_compared_with_the_pitched_kernel() {
    let record = chapter()
        .record("--m 64 --n 64 --p 64 --variant pitched,tiled-32 --fill identity --seed 7");
    assert_eq!(
        record["inputs"],
        json!({"m": 64, "n": 64, "p": 64, "fill": "identity", "seed": 7, "variants": ["pitched", "tiled 32"], "block": "16x16"})
    );
    assert_eq!(record["baseline"], "pitched");
    let results = record["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["variant"], "pitched");
    assert_eq!(results[0]["speedup"], 1.0);
    assert_eq!(results[1]["variant"], "tiled 32");
    let ms = |index: usize| results[index]["median_ms"].as_f64().unwrap();
    let speedup = results[1]["speedup"].as_f64().unwrap();
    approx::assert_relative_eq!(speedup, ms(0) / ms(1), max_relative = 1e-12);
}

#[test]
fn the_same_run_twice_gives_the_same_record() {
    let same = |arguments: &str| {
        let run = || chapter().record(arguments);
        assert_eq!(run(), run(), "{arguments}");
    };
    same("--m 100 --n 50 --p 70");
    same("--m 2176 --n 20 --p 2048 --variant even-shares");
}

#[test]
fn kernels_can_run_without_the_baseline() {
    let record = chapter().record("--m 9 --n 9 --p 9 --variant tiled-8");
    assert!(record["results"][0]["speedup"].is_null());
}

#[test]
fn profiles_have_counters_advice_and_source_lines() {
    chapter().check_profile(
        "--m 33 --n 20 --p 40",
        &[
            ("pitched", "result = fmaf("),
            ("tiled 8", "As[row][j]"),
            ("tiled 16", "As[row][j]"),
            ("tiled 32", "As[row][j]"),
        ],
    );
}

#[test]
fn repeat_0_measures_no_limits() {
    let run = chapter().run("--m 70 --n 20 --p 30 --variant squares --repeat 0");
    assert!(!run.stdout.contains("limit"), "{}", run.stdout);
}

#[test]
fn unwritable_output_is_handled() {
    chapter().survives_closed_output("--m 5 --n 3 --p 4");
}

/// Returns arguments for a run of some seconds, and `times` as long.
#[cfg(unix)]
fn long(times: u32) -> String {
    format!("--m {} --n 1600 --p 1600", 1600 * times)
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run() {
    chapter().exits_on_ctrl_c(long, "mat_mul_pitched on the simulator");
}

#[cfg(unix)]
#[test]
fn sigint_ends_a_run_without_a_reader() {
    chapter().exits_on_sigint_without_reader(&long(1));
}

#[test]
fn checks_have_no_findings() {
    chapter().check_finds_nothing("--m 33 --n 65 --p 70");
    chapter().check_finds_nothing("--m 97 --n 131 --p 75 --variant ladder");
}
