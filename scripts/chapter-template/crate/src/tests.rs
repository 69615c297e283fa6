//! A test that runs the chapter with an incorrect kernel, in its own process.

use super::*;

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_sum_instead_of_a_product() {
    let wrong = PTX.replace("mul.f32", "add.f32");
    assert_ne!(
        wrong, PTX,
        "the kernel no longer contains the text to replace"
    );
    let flags = Flags::parse_from(["new-chapter", "--count", "100"]);
    assert_eq!(common::error::exit(run(&flags, &wrong)), ExitCode::FAILURE);
}

#[test]
fn a_wrong_result_is_reported() {
    let (table, notes) = chapter_test::output_of("a_sum_instead_of_a_product");
    assert!(table.contains("WRONG"), "{table}");
    assert!(notes.contains("error: scale: wrong result: "), "{notes}");
}
