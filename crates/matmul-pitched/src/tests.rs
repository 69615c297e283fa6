//! Tests that run the chapter with incorrect kernels and expect them to be detected. Each runs in its own
//! process, as an ignored test of this program, so that its output can be read.

use chapter_test::output_of;

use super::*;

/// Runs the chapter like `main`, but with `ptx` and sizes that are not multiples of a block, and fails unless
/// the chapter fails.
fn fails(ptx: &str) {
    assert_ne!(
        ptx, PTX,
        "the kernel no longer contains the text to replace"
    );
    let flags = Flags::parse_from(["matmul-pitched", "--m", "19", "--n", "21", "--p", "35"]);
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

/// Fails unless the table and an error that contains `message` report a wrong result.
fn is_wrong(name: &str, message: &str) {
    let (tables, notes) = output_of(name);
    assert!(tables.contains("WRONG"), "{tables}");
    assert!(!tables.contains("correct"), "{tables}");
    let error = notes.lines().find(|line| line.starts_with("error: "));
    let error = error.unwrap_or_else(|| panic!("no error in\n{notes}"));
    assert!(
        error.starts_with("error: pitched: wrong result: "),
        "{error}"
    );
    assert!(error.contains(message), "{error}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn rounding_towards_zero() {
    fails(&PTX.replace("fma.rn.f32", "fma.rz.f32"));
}

#[test]
fn other_roundings_are_wrong() {
    is_wrong("rounding_towards_zero", " of 665 differ: row 0, column ");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_store() {
    fails(&PTX.replace("st.global.f32", "// st.global.f32"));
}

#[test]
fn unwritten_elements_are_wrong() {
    let message = "665 of 665 differ: row 0, column 0 is NaN and should be ";
    is_wrong("no_store", message);
}

/// Threads beyond the edge of C store as well, as in the note's kernel.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_edge() {
    fails(&PTX.replace("@!%p3 bra", "// @!%p3 bra"));
}

#[test]
fn stores_past_the_edge_are_an_error() {
    let (tables, notes) = output_of("no_edge");
    assert_eq!(tables.matches("|").count(), 0, "{tables}");
    let error = "error: mat_mul_pitched failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(notes.contains(error), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn an_unknown_instruction() {
    fails(&PTX.replacen("fma.rn.f32", "frobnicate.f32", 1));
}

#[test]
fn ptx_that_does_not_load_is_explained_once() {
    let (_, notes) = output_of("an_unknown_instruction");
    assert_eq!(notes.matches("frobnicate").count(), 1, "{notes}");
    let error = "error: the PTX does not load: CUDA_ERROR_INVALID_PTX";
    assert!(notes.contains(error), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_name() {
    fails(&PTX.replace("mat_mul_pitched", "mat_mul_kernel"));
}

#[test]
fn missing_kernels_are_reported() {
    let (_, notes) = output_of("another_name");
    let error = "error: cannot find the kernel mat_mul_pitched: CUDA_ERROR_NOT_FOUND";
    assert!(notes.contains(error), "{notes}");
}
