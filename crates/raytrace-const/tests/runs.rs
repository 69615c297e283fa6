//! Runs of the real program on the simulator.

use std::path::Path;

use assert_cmd::Command;
use clap::Parser;
use raytrace_const::flags::Flags;
use raytrace_const::picture::Picture;
use raytrace_const::{reference, scene};

/// Runs the program on the simulator in `folder`; returns standard output and error.
fn run_in(folder: &Path, arguments: &str) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_raytrace-const"))
        .current_dir(folder)
        .env("CUDA_BACKEND", "sim")
        .args(arguments.split_whitespace())
        .assert()
        .success()
        .get_output()
        .clone();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// Runs the program and compares its PNG with the CPU reference.
fn draws_the_reference(arguments: &str) {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), arguments);
    let drawn = image::open(folder.path().join("raytrace.png")).unwrap();

    let words = arguments.split_whitespace();
    let flags = Flags::try_parse_from(["raytrace-const"].into_iter().chain(words)).unwrap();
    let Picture {
        width,
        height,
        pixels,
    } = reference::render(&scene::random(&flags), flags.width, flags.height);
    let drawn = drawn.into_rgba8();
    assert_eq!(drawn.dimensions(), (width, height));
    let wrong = drawn
        .pixels()
        .zip(&pixels)
        .filter(|(got, want)| got.0 != **want)
        .count();
    assert_eq!(wrong, 0, "pixels differ with {arguments}");
}

/// One test a variant, over sizes and blocks that do not divide them.
macro_rules! every_variant {
    ($($test:ident: $arguments:literal;)*) => {
        mod global {
            $(#[test] fn $test() { super::draws_the_reference(concat!("--variant global ", $arguments)) })*
        }
        mod constant {
            $(#[test] fn $test() { super::draws_the_reference(concat!("--variant constant ", $arguments)) })*
        }
        mod unrolled {
            $(#[test] fn $test() { super::draws_the_reference(concat!("--variant unrolled ", $arguments)) })*
        }
    };
}

every_variant! {
    one_pixel: "--width 1 --height 1";
    smaller_than_a_block: "--width 17 --height 13";
    the_default_size: "--width 1024 --height 1024";
    a_block_of_odd_sides: "--width 100 --height 61 --block 7x5";
    a_block_of_one_thread: "--width 19 --height 3 --block 1x1";
    the_largest_block: "--width 40 --height 33 --block 1024x1";
    one_sphere: "--width 64 --height 64 --spheres 1";
    fewer_spheres_than_are_unrolled: "--width 64 --height 64 --spheres 6";
    more_spheres_than_are_unrolled: "--width 64 --height 64 --spheres 21 --seed 4";
    as_many_spheres_as_fit: "--width 64 --height 64 --spheres 2048";
}

#[test]
fn constant_memory_takes_2340_packed_spheres() {
    draws_the_reference("--variant constant --width 32 --height 32 --spheres 2340");
}

#[test]
fn global_memory_takes_more_spheres_than_constant_memory_holds() {
    draws_the_reference("--variant global --width 32 --height 32 --spheres 5000");
}

#[test]
fn the_table_has_every_variant_and_says_that_times_are_modelled() {
    let folder = tempfile::tempdir().unwrap();
    let (table, notes) = run_in(folder.path(), "--width 64 --height 48");
    for variant in ["global", "constant", "unrolled"] {
        let row = table
            .lines()
            .find(|line| line.starts_with(&format!("| {variant} ")))
            .unwrap_or_else(|| panic!("no row for {variant} in\n{table}"));
        assert!(row.contains("modelled, NVIDIA H200"), "{row}");
        assert!(row.contains("right"), "{row}");
    }
    assert!(!table.contains("measured"), "{table}");
    assert!(
        notes.contains("simulator: models an NVIDIA H200"),
        "{notes}"
    );
    assert!(folder.path().join("raytrace.png").is_file());
}

#[test]
fn standard_output_is_one_json_record() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--json --width 40 --height 30 --spheres 5 --seed 9 --block 8x4 --out a.png";
    let (output, _) = run_in(folder.path(), arguments);
    let record: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(record["chapter"], "raytrace-const");
    assert_eq!(record["gpu"]["time"], "modelled");
    assert_eq!(record["gpu"]["name"], "NVIDIA H200");
    assert_eq!(
        record["inputs"],
        serde_json::json!({"width": 40, "height": 30, "spheres": 5, "seed": 9, "block": "8x4"})
    );
    assert_eq!(record["baseline"], "global");
    let results = record["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        assert_eq!(result["verified"], true);
        assert_eq!(result["differing"], 0);
        assert!(result["median_ms"].as_f64().unwrap() > 0.0);
        assert!(result["speedup"].as_f64().unwrap() > 0.0);
        assert_eq!(result["samples"], 1);
    }
    assert!(folder.path().join("a.png").is_file());
}

#[test]
fn the_same_run_twice_gives_the_same_record() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--json --width 200 --height 150";
    let (first, _) = run_in(folder.path(), arguments);
    let (second, _) = run_in(folder.path(), arguments);
    assert_eq!(first, second);
}

#[test]
fn one_variant_alone_has_no_relative_speed() {
    let folder = tempfile::tempdir().unwrap();
    let (output, _) = run_in(
        folder.path(),
        "--json --width 8 --height 8 --variant unrolled",
    );
    let record: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert!(record["results"][0]["speedup"].is_null());
}
