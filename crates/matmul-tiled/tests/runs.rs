//! Runs of the real program on the simulator.

use chapter_test::{Chapter, row};
use serde_json::json;

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_matmul-tiled"))
}

/// Runs the program: every result has to be the reference's, and the accesses counted have to be
/// those of the formula.
fn is_right(arguments: &str) {
    let record = chapter().record(arguments);
    let results = record["results"].as_array().unwrap();
    let variants: Vec<_> = results.iter().map(|result| &result["variant"]).collect();
    assert_eq!(variants, ["pitched", "tiled 8", "tiled 16", "tiled 32"]);
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

/// One test a line.
macro_rules! sizes {
    ($($test:ident: $arguments:literal;)*) => {
        $(#[test] fn $test() { is_right($arguments) })*
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
    the_notes_sizes: "";
    the_notes_matrices: "--fill identity";
    identities_that_are_not_square: "--m 40 --n 20 --p 30 --fill identity";
    another_block_for_the_pitched_kernel: "--m 50 --n 61 --p 100 --block 7x5";
}

#[test]
fn the_record_says_which_tiles() {
    for tile in ["all", "8", "16", "32"] {
        let record = chapter().record(&format!("--m 2 --n 2 --p 2 --tile {tile}"));
        assert_eq!(record["inputs"]["tile"], tile);
    }
}

#[test]
fn accesses_are_the_notes_at_the_notes_sizes() {
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
fn the_table_has_every_variant_and_says_that_times_are_modelled() {
    let run = chapter().runs("--m 40 --n 30 --p 20");
    for (variant, accesses) in [
        ("pitched", 2 * 40 * 30 * 20 + 40 * 20),
        ("tiled 8", 40 * 30 * 3 + 30 * 20 * 5 + 40 * 20),
        ("tiled 16", 40 * 30 * 2 + 30 * 20 * 3 + 40 * 20),
        ("tiled 32", 40 * 30 + 30 * 20 * 2 + 40 * 20),
    ] {
        let row = row(&run.stdout, variant);
        // By the formula, and counted.
        let accesses = accesses.to_string();
        let both = row.iter().filter(|&&cell| cell == accesses);
        assert_eq!(both.count(), 2, "{row:?}");
        assert!(row.contains(&"modelled, NVIDIA H200"), "{row:?}");
        assert_eq!(row.last(), Some(&"right"), "{row:?}");
    }
    assert!(!run.stdout.contains("measured"), "{}", run.stdout);
    for part in [
        "simulator: models an NVIDIA H200",
        "These times are a model's",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn one_tile_is_compared_with_the_pitched_kernel() {
    let record = chapter().record("--m 64 --n 64 --p 64 --tile 32 --fill identity --seed 7");
    assert_eq!(
        record["inputs"],
        json!({"m": 64, "n": 64, "p": 64, "fill": "identity", "seed": 7, "tile": "32", "block": "16x16"})
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
    let run = || chapter().record("--m 100 --n 50 --p 70");
    assert_eq!(run(), run());
}

#[test]
fn counters_advice_and_source_lines() {
    chapter().profiles(
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
fn output_that_nobody_takes() {
    chapter().copes_without_readers("--m 5 --n 3 --p 4");
}

/// Takes some seconds.
#[cfg(unix)]
const LONG: &str = "--m 1600 --n 1600 --p 1600";

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run() {
    chapter().ends_at_ctrl_c(LONG, "mat_mul_pitched on the simulator");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_though_nobody_listens() {
    chapter().ends_when_interrupted_unheard(LONG);
}
