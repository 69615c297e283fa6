//! Invalid input: one error message with the problem, its location and the next step, and no panic or picture.

use std::fs;

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "raytrace-const";
    invalid_sizes_are_rejected:
        rejects_values(&["--width", "--height", "--spheres"], &INVALID_SIZES),
        rejects_values(&["--seed"], &["-1", "many"]);
    unknown_variants_are_rejected_with_the_list: rejects(2, "--variant texture", &[
        "texture",
        "book, ladder, global, constant, unrolled, outlines, rows, patches, patches-global, \
         patches-tiles, nearest-point, culled",
    ]);
    malformed_blocks_are_rejected: rejects_malformed_blocks();
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 32x33", &["--block 32x33", "1056 threads", "1024"]),
        // The product exceeds 32 bits.
        rejects(1, "--block 65536x65536", &["4294967296 threads", "1024"]);
    grids_above_the_devices_limit_are_rejected: rejects(
        1, "--width 1 --height 70000 --block 16x1", &["1x70000 blocks", "65535", "larger blocks"]
    );
    spheres_beyond_constant_memory_are_rejected:
        rejects(
            1, "--spheres 2341 --variant constant",
            &["2340", "2048", "2040", "--variant global", "at most 2340"]
        ),
        rejects(1, "--spheres 2049 --variant unrolled", &["at most 2048"]),
        rejects(1, "--spheres 2049", &["at most 2048"]),
        rejects(1, "--spheres 2041 --variant global,rows", &["at most 2040"]);
    pictures_larger_than_memory_are_rejected: rejects(
        1, "--width 1000000 --height 1000000 --block 16x64", &["needs 4000.0 GB", "memory", "is free"]
    );
    unwritable_paths_are_rejected:
        rejects(1, "--out missing/a.png", &["missing", "there is no folder"]),
        rejects(1, "--out picture.jpg", &["picture.jpg", ".png"]),
        rejects(2, "--out=", &["--out"]);
    /// Not even root can create files in `/proc`.
    #[cfg(target_os = "linux")]
    folders_without_permission_are_rejected:
        rejects(1, "--out /proc/a.png", &["/proc", "cannot write"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--width 1 --height 1");
}

#[test]
fn paths_that_are_folders_or_within_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.png")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (file, expected) in [
        ("folder.png", "is a folder"),
        ("file/a.png", "there is no folder"),
    ] {
        let out = format!("--out {file}");
        chapter().rejects_in(folder.path(), 1, &out, &[file, expected]);
    }
}

#[test]
fn invalid_time_limits_are_rejected() {
    let chapter = chapter().with_env("CUDA_SIM_TIME_LIMIT", "soon");
    chapter.rejects(1, "", &["CUDA_SIM_TIME_LIMIT"]);
}

#[test]
fn unknown_gpus_are_rejected_with_the_list() {
    let chapter = chapter().with_env("CUDA_SIM_DEVICE", "rtx 9090");
    let names = "h200, rtx3090, gtx970, p2000, gtx280";
    chapter.rejects(1, "", &["error: CUDA_SIM_DEVICE is 'rtx 9090'", names]);
}
