//! Invalid input: one error message with the problem, its location and the next step, and no panic.

use chapter_test::INVALID_SIZES;

chapter_test::chapter! {
    "stencil-readonly";
    invalid_sizes_are_rejected:
        rejects_values(&["--size", "--block"], &INVALID_SIZES),
        rejects(2, "--size 1073741825", &["--size", "1073741824"]);
    blocks_smaller_than_the_halo_are_rejected:
        rejects(2, "--block 3", &["--block", "load the halo", "at least 4"]);
    blocks_above_the_devices_limit_are_rejected:
        rejects(1, "--block 1025", &["--block 1025", "1024"]),
        rejects(1, "--block 4294967295", &["--block 4294967295", "1024"]);
    unknown_variants_are_rejected_with_the_list: rejects(2, "--variant texture", &[
        "texture",
        "book, ladder, constant, __ldg, const-__restrict__, cached, vectors, aligned, read-only",
    ]);
    unexpected_arguments_are_rejected: rejects(2, "1000", &["unexpected argument '1000'"]);
    common_invalid_input_is_rejected: rejects_common_invalid_input("--size 1");
}

/// The largest array takes 30 GB on the simulator, so a computer with that much memory cannot show the error.
#[cfg(target_os = "linux")]
#[test]
fn arrays_larger_than_memory_are_rejected() {
    if chapter_test::available_memory() < 29_000_000_000 {
        chapter().rejects(1, "--size 1073741824", &["this array", "memory", "is free"]);
    }
}
