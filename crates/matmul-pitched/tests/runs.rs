//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{counter, global, row, variants};
use serde_json::{Value, json};

chapter_test::chapter! {
    "matmul-pitched";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--m 100 --n 50 --p 70");
    profiles_have_counters_advice_and_source_lines:
        check_profile("--m 17 --n 13 --p 31", &[("pitched", "result = fmaf(")]);
    repeat_0_measures_no_limits: measures_no_limits("--m 30 --n 20 --p 10 --variant tile-8x8");
    unwritable_output_is_handled: survives_closed_output("--m 5 --n 3 --p 4");
    checks_have_no_findings:
        check_finds_nothing("--m 33 --n 65 --p 70"),
        check_finds_nothing("--m 97 --n 131 --p 75 --variant ladder");
}

/// Runs the program and fails unless its result equals the reference.
fn assert_correct(arguments: &str) {
    assert_eq!(variants(&chapter().results(arguments)), ["pitched"]);
}

chapter_test::cases! {
    assert_correct;
    one_element: "--m 1 --n 1 --p 1";
    one_row_times_a_matrix: "--m 1 --n 37 --p 53";
    a_matrix_times_one_column: "--m 53 --n 37 --p 1";
    a_column_times_a_row: "--m 33 --n 1 --p 18";
    odd_sizes: "--m 17 --n 13 --p 31 --seed 2";
    sizes_of_the_block: "--m 16 --n 16 --p 16";
    one_more_than_the_block: "--m 17 --n 17 --p 17";
    rows_just_as_long_as_the_pitch: "--m 5 --n 128 --p 256";
    rows_just_longer_than_the_pitch: "--m 5 --n 129 --p 257";
    the_notes_sizes: "";
    the_notes_matrices: "--fill identity";
    identities_that_are_not_square: "--m 40 --n 20 --p 30 --fill identity";
    a_block_of_odd_sides: "--m 50 --n 61 --p 100 --block 7x5";
    a_block_of_one_thread: "--m 19 --n 8 --p 3 --block 1x1";
    the_widest_block: "--m 40 --n 33 --p 70 --block 1024x1";
    as_many_blocks_down_as_there_may_be: "--m 65535 --n 1 --p 1 --block 1x1";
    the_highest_block: "--m 70 --n 33 --p 40 --block 1x1024";
}

#[test]
fn the_tables_are_the_notes_with_modelled_times() {
    let run = chapter().run("--m 30 --n 20 --p 10");
    let (pitches, times) = run.stdout.split_once("\n\n").unwrap();
    // The values that the note's program prints: pitch, xsize and ysize.
    let rows = [
        "| pitched 2D |            15 |           60 |          512 |     – |     – |            452 |",
        "| pitched 2D |           128 |          512 |          512 |     – |     – |              0 |",
        "| pitched 2D |           255 |         1020 |         1024 |     – |     – |              4 |",
        "| pitched 3D |            15 |           60 |          512 |    60 |    15 |            452 |",
        "| pitched 3D |           128 |          512 |          512 |   512 |    15 |              0 |",
        "| pitched 3D |           255 |         1020 |         1024 |  1020 |    15 |              4 |",
    ];
    assert_eq!(pitches.lines().skip(2).collect::<Vec<_>>(), rows);
    assert!(row(times, "pitched").contains(&"correct"), "{times}");
    assert!(times.contains("| GFLOP/s |"), "{times}");
    run.says_that_times_are_modelled();
}

#[test]
fn widths_are_allocated_in_the_given_order() {
    let record = chapter().record("--m 2 --n 3 --p 4 --seed 5 --block 8x4 --widths 1000,1,129");
    assert_eq!(
        record["inputs"],
        json!({
            "m": 2, "n": 3, "p": 4, "fill": "random", "seed": 5,
            "block": "8x4", "widths": [1000, 1, 129]
        })
    );
    let pitches = |allocation: &str, is_3d: bool| {
        [
            (1000, 4000, 4096, 96),
            (1, 4, 512, 508),
            (129, 516, 1024, 508),
        ]
        .map(|(floats, width, pitch, wasted)| {
            let [xsize, ysize] = [width, 15].map(|size| is_3d.then_some(size));
            json!({
                "allocation": allocation, "floats": floats, "width_bytes": width,
                "pitch_bytes": pitch, "xsize": xsize, "ysize": ysize, "wasted_bytes": wasted
            })
        })
    };
    let expected = [pitches("pitched 2D", false), pitches("pitched 3D", true)].concat();
    assert_eq!(record["pitches"], json!(expected));
}

#[test]
fn the_rate_counts_two_operations_per_product() {
    let record = chapter().record("--m 64 --n 100 --p 32");
    let result = &record["results"][0];
    assert_eq!(record["baseline"], "pitched");
    assert_eq!(result["speedup"], 1.0);
    assert_eq!(result["samples"], 1);
    let seconds = result["median_ms"].as_f64().unwrap() * 1e-3;
    let rate = result["gflop_per_s"].as_f64().unwrap();
    approx::assert_relative_eq!(
        rate * seconds,
        2e-9 * 64.0 * 100.0 * 32.0,
        max_relative = 1e-12
    );
}

/// The note's kernel, the kernel without padding, and the rungs.
const LADDER: [&str; 8] = [
    "pitched",
    "linear",
    "uncoalesced",
    "uncoalesced linear",
    "read-only",
    "float4",
    "tile 4x4",
    "tile 8x8",
];

/// Runs the ladder and fails unless every result equals the reference bit by bit.
fn run_ladder(arguments: &str) -> Vec<Value> {
    let results = chapter().results(&format!("--variant ladder {arguments}"));
    assert_eq!(variants(&results), LADDER);
    for result in &results {
        assert_eq!(result["limit"]["name"], "arithmetic alone");
    }
    results
}

chapter_test::cases! {
    mod ladder, run_ladder;
    one_element: "--m 1 --n 1 --p 1";
    fewer_products_than_four: "--m 5 --n 3 --p 7";
    a_matrix_times_one_column: "--m 53 --n 37 --p 1";
    a_column_times_a_row: "--m 33 --n 1 --p 18";
    odd_sizes: "--m 67 --n 13 --p 131";
    just_a_tile: "--m 64 --n 16 --p 128";
    one_more_than_a_tile: "--m 65 --n 17 --p 129";
    rows_just_as_long_as_the_pitch: "--m 5 --n 128 --p 256";
    rows_just_longer_than_the_pitch: "--m 5 --n 129 --p 257";
    a_block_of_odd_sides: "--m 50 --n 61 --p 100 --block 7x5";
    identities: "--m 40 --n 20 --p 30 --fill identity";
    the_notes_sizes: "";
}

#[test]
fn counters_improve_along_the_ladder() {
    let results = run_ladder("--m 64 --n 64 --p 128");
    let counted = |variant: &str, metric: &str| {
        let at = LADDER.iter().position(|name| *name == variant).unwrap();
        counter(&results[at], &global(metric, "ld"))
    };
    // 256 warps of two rows each, 64 products, two loads each: 2 sectors of A and 2 of B.
    assert_eq!(counted("pitched", "requests"), 256 * 64 * 2);
    assert_eq!(counted("pitched", "sectors"), 256 * 64 * 4);
    assert_eq!(counted("read-only", "sectors"), 256 * 64 * 4);
    // 16 rows of A, one sector each.
    assert_eq!(counted("uncoalesced", "sectors"), 256 * 64 * 17);
    // A quarter of the warps; each load of a tile serves as many products as the tile is wide.
    assert_eq!(counted("float4", "requests"), 64 * 64 * 2);
    assert_eq!(counted("tile 4x4", "requests"), 16 * 16 * 8);
    assert_eq!(counted("tile 8x8", "requests"), 4 * 16 * 16);
}

/// Rows of 33 floats start anywhere, so two rows of 16 columns span two or three sectors each.
#[test]
fn rows_without_padding_take_more_sectors() {
    let results = run_ladder("--m 32 --n 8 --p 33");
    let [pitched, linear] = [0, 1].map(|at| counter(&results[at], &global("sectors", "ld")));
    assert!(pitched < linear, "{pitched} {linear}");
}

#[test]
fn the_ladder_lists_its_ideas() {
    let run = chapter().run("--m 30 --n 20 --p 10 --variant pitched,tile-8x8");
    run.prints(&["\n| arithmetic alone ", "\n| pitched ", "\n| tile 8x8 "]);
    run.notes(&["pitched   the note's", "tile 8x8  eight rows"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run() {
    let long = |times| format!("--m {} --n 1600 --p 1600", 1600 * times);
    chapter().exits_on_ctrl_c(long, "mat_mul_pitched on the simulator");
}

/// The note's large sizes on one thread, so that it takes long on any computer.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_reference() {
    let long = |times| format!("--m {} --n 6400 --p 3200", 4800 * times);
    let chapter = chapter().with_env("RAYON_NUM_THREADS", "1");
    chapter.exits_on_ctrl_c(long, "CPU reference");
}
