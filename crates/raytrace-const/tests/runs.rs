//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::{Chapter, counter, global, row, variants};
use clap::Parser;
use raytrace_const::flags::Flags;
use raytrace_const::picture::Picture;
use raytrace_const::{reference, scene};

chapter_test::chapter! {
    "raytrace-const";
    the_same_run_twice_gives_the_same_record: repeats_its_record("--width 200 --height 150");
    profiles_have_counters_advice_and_source_lines: check_profile("--width 40 --height 30", &[
        ("global", "if (z > nearest)"),
        ("constant", "if (z > nearest)"),
        ("unrolled", "if (!any) return"),
    ]);
    repeat_0_measures_no_limits: measures_no_limits("--variant rows --width 64 --height 8");
    unwritable_output_is_handled: survives_closed_output("--width 9 --height 7");
    checks_have_no_findings:
        check_finds_nothing("--width 33 --height 17 --spheres 5"),
        check_finds_nothing("--width 65 --height 33 --spheres 9 --variant ladder");
}

chapter_test::cases! {
    draws_the_reference;
    constant_memory_takes_2340_packed_spheres:
        "--variant constant --width 32 --height 32 --spheres 2340";
    global_memory_takes_more_spheres_than_constant_memory_holds:
        "--variant global --width 32 --height 32 --spheres 5000";
}

/// Runs the program and compares its PNG with the CPU reference.
fn draws_the_reference(arguments: &str) {
    let run = chapter().run(arguments);
    let drawn = image::open(run.folder.path().join("raytrace.png")).unwrap();

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
        .filter(|(actual, expected)| actual.0 != **expected)
        .count();
    assert_eq!(wrong, 0, "pixels differ with {arguments}");
}

/// Defines one test per variant, with sizes and blocks that do not divide them.
macro_rules! every_variant {
    ($($test:ident: $arguments:literal;)*) => {
        every_variant! { global $($test: $arguments;)* }
        every_variant! { constant $($test: $arguments;)* }
        every_variant! { unrolled $($test: $arguments;)* }
    };
    ($variant:ident $($test:ident: $arguments:literal;)*) => {
        chapter_test::cases! {
            mod $variant, draws_the_reference;
            $($test: concat!("--variant ", stringify!($variant), " ", $arguments);)*
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

/// Runs the ladder: the program verifies all rungs, and this function the saved picture of the last.
fn run_ladder(arguments: &str) {
    let run = chapter().run(&format!("--variant ladder {arguments}"));
    for rung in RUNGS {
        let row = row(&run.stdout, rung);
        assert_eq!(row.last(), Some(&"correct"), "{arguments}: {row:?}");
    }
    run.prints(&["| limit "]);
    draws_the_reference(&format!("--variant culled {arguments}"));
}

const RUNGS: [&str; 10] = [
    "global",
    "constant",
    "unrolled",
    "outlines",
    "rows",
    "patches",
    "patches global",
    "patches tiles",
    "nearest point",
    "culled",
];

// Pictures with and without rows of whole vectors, patches and blocks that do not divide them, full and partial
// groups and tiles of spheres.
chapter_test::cases! {
    mod ladder, run_ladder;
    one_pixel: "--width 1 --height 1";
    one_pixel_one_sphere: "--width 1 --height 1 --spheres 1";
    one_patch: "--width 4 --height 4";
    smaller_than_a_patch: "--width 3 --height 2";
    a_row_of_vectors_and_a_cut_patch: "--width 64 --height 61";
    no_whole_vectors: "--width 67 --height 64";
    the_default_size: "--width 1024 --height 1024";
    a_block_of_odd_sides: "--width 100 --height 61 --block 7x5";
    a_block_of_one_thread: "--width 19 --height 3 --block 1x1";
    a_flat_block: "--width 40 --height 33 --block 256x1";
    one_sphere_more_than_a_group: "--width 64 --height 64 --spheres 21 --seed 4";
    one_sphere_more_than_a_tile: "--width 64 --height 64 --spheres 241 --seed 7";
    more_spheres_than_are_culled_at_a_time: "--width 64 --height 32 --spheres 1025";
    as_many_spheres_as_fit: "--width 64 --height 32 --spheres 2040";
}

#[test]
fn rungs_without_constant_memory_take_more_spheres() {
    for variant in ["patches-global", "patches-tiles"] {
        let picture = "--width 33 --height 32 --spheres 5001";
        draws_the_reference(&format!("--variant {variant} {picture}"));
    }
}

#[test]
fn the_ladders_record_has_limits_and_counters() {
    let results = chapter().results("--variant ladder --width 512 --height 512 --spheres 40");
    assert_eq!(variants(&results), RUNGS);
    for result in &results {
        assert!(result["limit"]["share"].as_f64().unwrap() > 0.0, "{result}");
    }
    // Culling is another algorithm, so it is compared with no other variant and with no limit of tests.
    let culled = &results[9];
    assert!(culled["speedup"].is_null());
    assert_eq!(culled["limit"]["name"], "writing the picture");
    assert!(results[8]["speedup"].as_f64().is_some());

    // One read of an outline serves one, four or sixteen pixels; the reads of hit spheres are not shared.
    let count = |rung: usize, name: &str| counter(&results[rung], name);
    let constant = "idc__requests.sum";
    let [outlines, rows, patches] = [3, 4, 5].map(|rung| count(rung, constant));
    assert!(outlines > 3 * rows && rows > 2 * patches);
    let warps = 512 * 512 / 32;
    let stored = [3, 4, 5].map(|rung| count(rung, &global("requests", "st")));
    assert_eq!(stored, [warps, warps / 4, warps / 4]);
    let shared = "smsp__inst_executed_op_shared_ld.sum";
    assert_eq!([5, 6].map(|rung| count(rung, shared)), [0, 0]);
    assert!(count(7, shared) > 0);

    // One test for sixteen pixels reads as many spheres as sixteen tests that share their reads.
    assert!(count(8, constant).abs_diff(patches) < patches / 10);
}

#[test]
fn many_spheres_are_bound_by_unshared_instructions() {
    let many = "--width 512 --height 512 --spheres 2040";
    let variants = "--variant patches,nearest-point,culled";
    let results = chapter().results(&format!("{variants} {many}"));
    let limit = |rung: usize, metric: &str| results[rung]["limit"][metric].clone();
    let names = [0, 1, 2].map(|rung| limit(rung, "name"));
    let pixels = "multiply-adds and comparisons";
    let patches = "nine instructions for sixteen pixels";
    assert_eq!(names, [pixels, patches, "writing the picture"]);
    // Two instructions per pixel, and nine sixteenths of one.
    let [two, nine] = [0, 1].map(|rung| limit(rung, "median_ms").as_f64().unwrap());
    assert!((nine / two - 9.0 / 32.0).abs() < 1e-6, "{nine} {two}");
    let instructions = [0, 1].map(|rung| counter(&results[rung], "smsp__inst_executed.sum"));
    assert!(instructions[0] > 2 * instructions[1], "{instructions:?}");
}

#[test]
fn ideas_are_listed_below_the_table() {
    let run = chapter().run("--variant rows,patches --width 64 --height 8");
    run.notes(&["rows     Four pixels per thread", "patches  Sixteen pixels"]);
    let run = chapter().run("--width 64 --height 8");
    assert!(!run.stderr.contains("28-byte spheres"), "{}", run.stderr);
    run.lacks("limit");
}

#[test]
fn the_table_has_every_variant_and_modelled_times() {
    let run = chapter().run("--width 64 --height 48 --out a.png");
    for variant in ["global", "constant", "unrolled"] {
        let row = row(&run.stdout, variant);
        assert_eq!(row.last(), Some(&"correct"), "{row:?}");
    }
    run.says_that_times_are_modelled();
    run.notes(&["The picture: a.png"]);
    assert!(run.folder.path().join("a.png").is_file());
}

#[test]
fn the_record_has_the_inputs_and_times() {
    let record = chapter().record("--width 40 --height 30 --spheres 5 --seed 9 --block 8x4");
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
}

#[test]
fn a_single_variant_has_no_speedup() {
    let record = chapter().record("--width 8 --height 8 --variant unrolled");
    assert!(record["results"][0]["speedup"].is_null());
}

/// Returns arguments for a run of some seconds on one thread, with a launch of over a second, and `times` as
/// long: 40 times the default's work.
#[cfg(unix)]
fn long(times: u32) -> String {
    let height = 2048 * times;
    format!("--width 2048 --height {height} --spheres 200 --variant constant")
}

/// Returns the chapter on one thread, so that long runs are long on any computer.
#[cfg(unix)]
fn slow() -> Chapter {
    chapter().with_env("RAYON_NUM_THREADS", "1")
}

#[cfg(unix)]
#[test]
fn progress_is_shown_only_in_a_terminal() {
    let label = "raytrace_constant on the simulator";
    let (arguments, _folder, terminal) = slow().run_until_progress(long, label);
    let (code, printed) = terminal.end();
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains(" %, "), "{printed}");
    assert!(printed.contains("| constant "), "{printed}");

    let run = slow().run(&arguments);
    assert!(!run.stderr.contains('%'), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_files() {
    slow().exits_on_ctrl_c(long, "raytrace_constant on the simulator");
}

#[cfg(unix)]
#[test]
fn sigint_ends_a_run_without_a_reader() {
    slow().exits_on_sigint_without_reader(&long(1));
}

/// Interrupts the program while the picture is written; afterwards the file is whole or missing.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_partial_picture() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--width 4000 --height 4000 --spheres 1 --variant global";
    let mut terminal = chapter().start_in_terminal(folder.path(), arguments);
    terminal.wait_for("simulator: ");
    let files = || std::fs::read_dir(folder.path()).unwrap();
    while files().count() == 0 {
        std::thread::yield_now();
    }
    terminal.interrupt();
    let (code, printed) = terminal.end();
    assert_eq!(code, 130, "{printed}");
    for file in files() {
        let path = file.unwrap().path();
        assert_eq!(path.file_name().unwrap(), "raytrace.png");
        assert_eq!(image::open(path).unwrap().width(), 4000);
    }
}
