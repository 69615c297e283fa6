//! Tests that run the chapter with incorrect modules and expect them to be detected. Each runs in its own
//! process, as an ignored test of this program, so that its output can be read.

use chapter_test::{output_of, rows};

use super::*;

/// Runs the chapter like `main`, but with `ptx`, and fails unless the chapter fails.
fn fails(ptx: &str) {
    assert_ne!(
        ptx, PTX,
        "the module no longer contains the text to replace"
    );
    let flags = Flags::parse_from(["device-symbols", "--count", "1000", "--block", "96"]);
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

/// Returns the steps of a table that are wrong.
fn wrong(table: &str) -> Vec<&str> {
    let wrong = rows(table).filter(|cells| cells.contains(&"WRONG"));
    wrong.map(|cells| cells[0]).collect()
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_addition() {
    fails(&PTX.replace(
        "fma.rn.f32 \t%f4, %f1, %f2, %f3",
        "mul.rn.f32 \t%f4, %f1, %f2",
    ));
}

#[test]
fn a_wrong_combination_is_reported() {
    let (table, notes) = output_of("no_addition");
    assert_eq!(wrong(&table), ["combine"]);
    let expected =
        "error: combine: wrong result: 1000 of 1000 differ: element 0 is 0.0 and should be";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_scalar_stored() {
    fails(&PTX.replace(
        "st.global.f32 \t[dev_data]",
        "// st.global.f32 \t[dev_data]",
    ));
}

#[test]
fn a_missing_store_of_the_scalar_is_detected() {
    let (table, notes) = output_of("no_scalar_stored");
    assert_eq!(wrong(&table), ["from dev_data, stored"]);
    let expected = "element 0 from dev_data is 3.14 and should be 0.75";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn nothing_stored_through_the_pointer() {
    fails(&PTX.replace("\tst.f32", "\t// st.f32"));
}

#[test]
fn unwritten_elements_show_as_poison() {
    let (table, notes) = output_of("nothing_stored_through_the_pointer");
    assert_eq!(wrong(&table), ["store"]);
    let expected = "256 of 256 differ: element 0 of dev_pointer's target is NaN";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_pointer_that_is_not_set() {
    // The kernel reads another pointer instead, which is never set.
    let pointer = ".visible .global .align 8 .u64 dev_pointer";
    let two = format!(".visible .global .align 8 .u64 unset;\n{pointer}");
    let ptx = PTX.replacen(pointer, &two, 1);
    fails(&ptx.replace(
        "ld.global.u64 \t%rd11, [dev_pointer]",
        "ld.global.u64 \t%rd11, [unset]",
    ));
}

#[test]
fn a_null_pointer_is_an_error_without_a_table() {
    let (table, notes) = output_of("a_pointer_that_is_not_set");
    assert!(!table.contains("| combine "), "{table}");
    let expected = "error: combine failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(notes.contains(expected), "{notes}");
}

/// An array with fewer elements in the `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_smaller_array() {
    fails(&PTX.replace("const_data[1024]", "const_data[1000]"));
}

#[test]
fn array_size_mismatches_are_reported_with_both_sizes() {
    let (_, notes) = output_of("a_smaller_array");
    let expected = "length 1024 at offset 0 is not within const_data, which has 1000 bytes";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_name() {
    fails(&PTX.replace("dev_pointer", "devPointer"));
}

#[test]
fn missing_variables_are_reported() {
    let (_, notes) = output_of("another_name");
    assert!(
        notes.contains("error: the module has no variable 'dev_pointer'"),
        "{notes}"
    );
}
