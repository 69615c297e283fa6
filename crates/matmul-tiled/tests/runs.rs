//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{Chapter, counter, global, row, variants};
use serde_json::{Value, json};

chapter_test::chapter! {
    "matmul-tiled";
    the_same_run_twice_gives_the_same_record:
        repeats_its_record("--m 100 --n 50 --p 70"),
        repeats_its_record("--m 2176 --n 20 --p 2048 --variant even-shares");
    profiles_have_counters_advice_and_source_lines: check_profile("--m 33 --n 20 --p 40", &[
        ("pitched", "result = fmaf("),
        ("tiled 8", "As[row][j]"),
        ("tiled 16", "As[row][j]"),
        ("tiled 32", "As[row][j]"),
    ]);
    repeat_0_measures_no_limits: measures_no_limits("--m 70 --n 20 --p 30 --variant squares");
    unwritable_output_is_handled: survives_closed_output("--m 5 --n 3 --p 4");
    checks_have_no_findings:
        check_finds_nothing("--m 33 --n 65 --p 70"),
        check_finds_nothing("--m 97 --n 131 --p 75 --variant ladder");
    #[cfg(unix)]
    ctrl_c_ends_a_long_run: exits_on_ctrl_c(long, "mat_mul_pitched on the simulator");
    #[cfg(unix)]
    sigint_ends_a_run_without_a_reader: exits_on_sigint_without_reader(&long(1));
}

/// The notes' kernels and the rungs.
const KERNELS: [&str; 14] = [
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
    "warpgroups",
];

/// Runs the notes' kernels and the ladder, and fails unless all results are correct.
fn assert_correct(arguments: &str) {
    let results = results(&chapter(), &format!("{arguments} --variant book,ladder"));
    assert_eq!(variants(&results), KERNELS);
}

/// Returns the results, and fails unless every one equals the reference and has as many accesses as the formula
/// predicts.
fn results(chapter: &Chapter, arguments: &str) -> Vec<Value> {
    let results = chapter.results(arguments);
    for result in &results {
        let counted = &result["accesses_counted"];
        assert!(counted.is_u64(), "{result}");
        assert_eq!(counted, &result["accesses_formula"], "{result}");
    }
    results
}

chapter_test::cases! {
    assert_correct;
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
        let results = results(&chapter, &format!("{sizes} --variant async,even-shares"));
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
    let many = "--m 1920 --n 512 --p 2304 --variant even-shares,split-k";
    let rungs = results(&chapter(), many);
    for field in ["accesses_counted", "median_ms"] {
        assert_eq!(rungs[0][field], rungs[1][field]);
    }

    let few = "--m 480 --n 640 --p 320 --variant tiled-16,even-shares,split-k";
    let results = results(&chapter(), few);
    let ms = |rung: usize| results[rung]["median_ms"].as_f64().unwrap();
    assert!(ms(2) < 0.5 * ms(0) && ms(2) < 0.5 * ms(1), "{results:?}");
}

/// Runs rungs on another GPU, and fails unless they are left out for the given reasons, and `other` is not.
fn leaves_out(gpu: &str, arguments: &str, rungs: &[&str], reason: &str, other: &str) {
    let gpu = chapter().with_env("CUDA_SIM_DEVICE", gpu);
    let run = gpu.run(&format!("--m 9 --n 9 --p 9 --variant {arguments}"));
    for rung in rungs {
        run.notes(&[&format!("left out: {rung} needs {reason}")]);
        run.lacks(rung);
    }
    assert!(row(&run.stdout, other).contains(&"correct"));
}

chapter_test::cases! {
    leaves_out;
    rungs_with_asynchronous_copies_need_compute_capability_8:
        "p2000", "ladder", &["async", "even shares", "split k", "tensor cores"],
        "compute capability 8.0", "double buffer";
    warpgroups_need_compute_capability_9:
        "rtx3090", "split-k,warpgroups", &["warpgroups"],
        "compute capability 9.0 and no newer", "split k";
    rungs_with_too_much_shared_memory_are_left_out:
        "rtx3090", "even-shares,tensor-cores", &["tensor cores"],
        "190464 bytes of shared memory per block, and this GPU allows 101376", "even shares";
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
    let has_share = |rung| {
        row(&run.stdout, rung)
            .iter()
            .any(|cell| cell.ends_with(" %"))
    };
    // Multiply-adds are no limit for tensor cores.
    assert!(has_share("squares") && !has_share("tensor cores"));
    run.notes(&["squares        Each thread computes 8x8"]);
    chapter().run(small).lacks("limit");
}

#[test]
fn wavefronts_and_requests_decrease_along_the_ladder() {
    let results = chapter().results("--m 128 --n 64 --p 128 --variant ladder --profile");
    let counted = |variant: &str, name: &str| {
        let result = results.iter().find(|result| result["variant"] == variant);
        counter(result.unwrap(), name)
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
    let rungs = ["pitched", "tiled 16", "columns", "squares", "vectors"];
    less(&global("requests", "ld"), &rungs);
}

#[test]
fn accesses_match_the_note_at_its_sizes() {
    let results = chapter().results("");
    let (products, elements) = (480 * 640 * 320, 480 * 320);
    for (result, tile) in results.iter().zip([1, 8, 16, 32]) {
        assert_eq!(result["accesses_counted"], 2 * products / tile + elements);
    }
    assert_eq!(results.len(), 4);
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
    run.says_that_times_are_modelled();
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
    assert_eq!(variants(results), ["pitched", "tiled 32"]);
    assert_eq!(results[0]["speedup"], 1.0);
    let ms = |index: usize| results[index]["median_ms"].as_f64().unwrap();
    let speedup = results[1]["speedup"].as_f64().unwrap();
    approx::assert_relative_eq!(speedup, ms(0) / ms(1), max_relative = 1e-12);
}

#[test]
fn kernels_can_run_without_the_baseline() {
    let record = chapter().record("--m 9 --n 9 --p 9 --variant tiled-8");
    assert!(record["results"][0]["speedup"].is_null());
}

/// Returns arguments for a run of some seconds, and `times` as long.
#[cfg(unix)]
fn long(times: u32) -> String {
    format!("--m {} --n 1600 --p 1600", 1600 * times)
}
