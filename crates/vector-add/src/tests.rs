//! The chapter with kernels that are wrong. Each runs in a process of its own, this test program
//! again with one ignored test, so that what it prints can be read.

use chapter_test::{printed_by, row};

use super::*;

/// Runs the chapter as `main` does, on `ptx`; it has to fail.
fn fails(ptx: &str) {
    assert_ne!(ptx, PTX, "the kernel no longer has what is changed here");
    let flags = Flags::parse_from(["vector-add", "--count", "100", "--block", "32"]);
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_difference() {
    fails(&PTX.replace("add.f32", "sub.f32"));
}

#[test]
fn a_wrong_sum_is_shown_and_an_error() {
    let (table, notes) = printed_by("a_difference");
    assert!(row(&table, "add").contains(&"WRONG"), "{table}");
    assert_eq!(table.matches("WRONG").count(), 1, "{table}");
    assert!(row(&table, "device to host").contains(&"right"), "{table}");
    assert!(
        notes.contains("error: add is wrong: 100 of 100 differ: element 0 is "),
        "{notes}"
    );
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn nothing_written() {
    fails(&PTX.replace("st.global.f32", "// st.global.f32"));
}

#[test]
fn a_sum_that_is_not_written_shows_as_poison() {
    let (table, notes) = printed_by("nothing_written");
    assert!(table.contains("WRONG"), "{table}");
    assert!(
        notes.contains("100 of 100 differ: element 0 is NaN"),
        "{notes}"
    );
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn one_thread_too_many() {
    fails(&PTX.replace("setp.ge.u64", "setp.gt.u64"));
}

#[test]
fn an_access_past_the_end_is_an_error_and_no_table() {
    let (table, notes) = printed_by("one_thread_too_many");
    assert!(!table.contains("| add "), "{table}");
    let wanted = "error: add failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(notes.contains(wanted), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_name() {
    fails(&PTX.replace(".entry add(", ".entry plus("));
}

#[test]
fn a_kernel_that_is_missing_is_an_error() {
    let (_, notes) = printed_by("another_name");
    assert!(
        notes.contains("error: CUDA_ERROR_NOT_FOUND: the module has no kernel"),
        "{notes}"
    );
}
