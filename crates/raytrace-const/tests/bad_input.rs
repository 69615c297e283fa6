//! Invalid input: one error message with the problem, its location and the next step, and no panic or picture.

use std::fs;

use chapter_test::{Chapter, NO_SIZES};

fn chapter() -> Chapter {
    Chapter::new(env!("CARGO_BIN_EXE_raytrace-const"))
}

fn says(code: i32, arguments: &str, wanted: &[&str]) {
    chapter().refuses(code, arguments, wanted);
}

#[test]
fn sizes_that_are_zero_negative_or_no_numbers() {
    chapter().refuses_values(&["--width", "--height", "--spheres"], &NO_SIZES);
    chapter().refuses_values(&["--seed"], &["-1", "many"]);
}

#[test]
fn an_unknown_variant_gets_the_list() {
    let all = "book, ladder, global, constant, unrolled, outlines, rows, patches, \
               patches-global, patches-tiles, nearest-point, culled";
    says(2, "--variant texture", &["texture", all]);
}

#[test]
fn blocks_that_are_none() {
    for malformed in ["16", "16x", "x", "16x16x1", "axb", "16X16"] {
        says(2, &format!("--block {malformed}"), &[malformed, "16x16"]);
    }
    for zero in ["0x16", "16x0"] {
        says(
            2,
            &format!("--block {zero}"),
            &[zero, "at least one thread"],
        );
    }
}

#[test]
fn blocks_over_the_devices_limit() {
    says(
        1,
        "--block 32x33",
        &["--block 32x33", "1056 threads", "1024"],
    );
    let product_past_32_bits = "--block 65536x65536";
    says(1, product_past_32_bits, &["4294967296 threads", "1024"]);
}

#[test]
fn a_grid_over_the_devices_limit() {
    let tall = "--width 1 --height 70000 --block 16x1";
    says(1, tall, &["1x70000 blocks", "65535", "larger blocks"]);
}

#[test]
fn more_spheres_than_constant_memory_holds() {
    let both = &["2340", "2048", "2040", "--variant global"];
    says(1, "--spheres 2341 --variant constant", both);
    says(1, "--spheres 2341 --variant constant", &["at most 2340"]);
    says(1, "--spheres 2049 --variant unrolled", &["at most 2048"]);
    says(1, "--spheres 2049", &["at most 2048"]);
    says(1, "--spheres 2041 --variant global,rows", &["at most 2040"]);
}

#[test]
fn a_picture_too_large_for_memory() {
    let huge = "--width 1000000 --height 1000000 --block 16x64";
    says(1, huge, &["needs 4000.0 GB", "memory", "is free"]);
}

#[test]
fn paths_that_cannot_be_written() {
    says(1, "--out missing/a.png", &["missing", "there is no folder"]);
    says(1, "--out picture.jpg", &["picture.jpg", ".png"]);
    says(2, "--out=", &["--out"]);

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.png")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (file, wanted) in [
        ("folder.png", "is a folder"),
        ("file/a.png", "there is no folder"),
    ] {
        let out = format!("--out {file}");
        chapter().refuses_in(folder.path(), 1, &out, &[file, wanted]);
    }
}

/// Not even root can create files in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_without_permission() {
    says(1, "--out /proc/a.png", &["/proc", "cannot write"]);
}

#[test]
fn a_time_limit_that_is_none() {
    let chapter = chapter().with("CUDA_SIM_TIME_LIMIT", "soon");
    chapter.refuses(1, "", &["CUDA_SIM_TIME_LIMIT"]);
}

#[test]
fn a_gpu_that_cannot_be_modelled() {
    let chapter = chapter().with("CUDA_SIM_DEVICE", "rtx 9090");
    let names = "h200, rtx3090, gtx970, p2000, gtx280";
    chapter.refuses(1, "", &["error: CUDA_SIM_DEVICE is 'rtx 9090'", names]);
}

#[test]
fn what_every_chapter_refuses() {
    chapter().refuses_what_every_chapter_refuses("--width 1 --height 1");
}
