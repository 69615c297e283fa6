//! Tests that run the chapter with incorrect kernels and expect them to be detected. Each runs in its own
//! process, as an ignored test of this program, so that its output can be read.

use chapter::ladder::Choice;
use chapter_test::{output_of, row};
use vector_add::variant::{VARIANTS, Work};

use super::*;

/// Runs the chapter like `main`, but with `ptx`, and fails unless the chapter fails.
fn fails(ptx: &str) {
    assert_ne!(
        ptx, PTX,
        "the kernel no longer contains the text to replace"
    );
    let flags = Flags::parse_from(["vector-add", "--count", "100", "--block", "32"]);
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_difference() {
    fails(&PTX.replace("add.f32", "sub.f32"));
}

#[test]
fn a_wrong_sum_is_reported() {
    let (table, notes) = output_of("a_difference");
    assert!(row(&table, "add").contains(&"WRONG"), "{table}");
    assert_eq!(table.matches("WRONG").count(), 1, "{table}");
    assert!(
        row(&table, "device to host").contains(&"correct"),
        "{table}"
    );
    assert!(
        notes.contains("error: add: wrong result: 100 of 100 differ: element 0 is "),
        "{notes}"
    );
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn nothing_written() {
    fails(&PTX.replace("st.global.f32", "// st.global.f32"));
}

#[test]
fn unwritten_sums_show_as_poison() {
    let (table, notes) = output_of("nothing_written");
    assert!(table.contains("WRONG"), "{table}");
    assert!(
        notes.contains("100 of 100 differ: element 0 is NaN"),
        "{notes}"
    );
}

/// Four elements per thread, without the remaining ones.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn missing_remainder() {
    let mut flags = Flags::parse_from(["vector-add", "--count", "102"]);
    let rows = VARIANTS.iter().map(|row| match row.config {
        Work::Kernel { width, ptx } => {
            let wrong = ptx.replacen(", 3;", ", 0;", 1);
            assert_ne!(
                wrong, ptx,
                "the rung no longer contains the text to replace"
            );
            let mut row = *row;
            let ptx = wrong.leak();
            row.config = Work::Kernel { width, ptx };
            Choice::One(Box::leak(Box::new(row)))
        }
        _ => Choice::One(row),
    });
    flags.variant = rows.collect();
    assert_eq!(common::error::exit(run(&flags, PTX)), ExitCode::FAILURE);
}

#[test]
fn missing_elements_keep_the_poison() {
    let (table, notes) = output_of("missing_remainder");
    assert!(row(&table, "float4").contains(&"WRONG"), "{table}");
    assert_eq!(table.matches("WRONG").count(), 1, "{table}");
    let expected =
        "error: float4: wrong result: 2 of 102 differ: element 100 is NaN and should be ";
    assert!(notes.contains(expected), "{notes}");
}

/// The note's kernel as complete additions launch it: on parts of the vectors.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn nothing_added() {
    let words = "vector-add --count 1000 --variant pageable,pinned,overlapped".split(' ');
    let ptx = PTX.replace("st.global.f32", "// st.global.f32");
    let flags = Flags::parse_from(words);
    assert_eq!(common::error::exit(run(&flags, &ptx)), ExitCode::FAILURE);
}

#[test]
fn complete_additions_without_the_kernel_are_wrong() {
    let (table, notes) = output_of("nothing_added");
    assert_eq!(table.matches("WRONG").count(), 3, "{table}");
    let expected = "error: pageable: wrong result: 1000 of 1000 differ: element 0 is NaN";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn one_thread_too_many() {
    fails(&PTX.replace("setp.ge.u64", "setp.gt.u64"));
}

#[test]
fn an_access_past_the_end_is_an_error_without_a_table() {
    let (table, notes) = output_of("one_thread_too_many");
    assert!(!table.contains("| add "), "{table}");
    let expected = "error: add failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_name() {
    fails(&PTX.replace(".entry add(", ".entry plus("));
}

#[test]
fn missing_kernels_are_reported() {
    let (_, notes) = output_of("another_name");
    assert!(
        notes.contains("error: CUDA_ERROR_NOT_FOUND: the module has no kernel"),
        "{notes}"
    );
}
