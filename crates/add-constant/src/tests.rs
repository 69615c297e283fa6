//! Tests that run the chapter with incorrect kernels, each in its own process, and expect them to be detected.

use add_constant::variant::VARIANTS;
use chapter::ladder::Choice;
use chapter_test::{output_of, rows};

use super::*;

/// Runs the chapter like `main`, but with `ptx`, and fails unless the chapter fails.
fn fails(ptx: &str, arguments: &str) {
    assert_ne!(
        ptx, PTX,
        "the kernels no longer contain the text to replace"
    );
    let words = arguments.split_whitespace();
    let flags = Flags::parse_from(["add-constant"].into_iter().chain(words));
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

/// Returns the check column in the row of `variant` and `pattern`.
fn check<'a>(table: &'a str, variant: &str, pattern: &str) -> &'a str {
    let row =
        rows(table).find(|cells| cells.first() == Some(&variant) && cells.get(2) == Some(&pattern));
    let row = row.unwrap_or_else(|| panic!("no row for {variant}, {pattern} in\n{table}"));
    row[row.len() - 1]
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_magic_number() {
    fails(
        &PTX.replace(", 1357;", ", 1359;"),
        "--sums 1000 --block 100",
    );
}

#[test]
fn values_from_wrong_indices_are_reported() {
    let (table, notes) = output_of("another_magic_number");
    for memory in ["global", "constant"] {
        assert_eq!(check(&table, memory, "pseudo_random"), "WRONG", "{table}");
        assert_eq!(check(&table, memory, "per_warp"), "correct", "{table}");
    }
    assert_eq!(check(&table, "vector", "–"), "correct", "{table}");
    // Thread 0 of each of the ten blocks reads value 0 with either number.
    let expected = "error: global: wrong result: 990 of 1000 differ: sum 1 is ";
    assert!(notes.contains(expected), "{notes}");
}

/// Values at other indices of each rung's table.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_table() {
    let words = "add-constant --sums 1000 --block 100 pseudo_random";
    let mut flags = Flags::parse_from(words.split(' '));
    let rows = VARIANTS.iter().map(|row| {
        if row.is_from_note() {
            Choice::One(row)
        } else {
            let mut wrong = *row;
            wrong.config.ptx = row.ptx.replace(", 1357", ", 1359").leak();
            assert_ne!(
                wrong.ptx, row.ptx,
                "the rung no longer contains the text to replace"
            );
            Choice::One(Box::leak(Box::new(wrong)))
        }
    });
    flags.variant = rows.collect();
    assert_eq!(common::error::exit(run(&flags, PTX)), ExitCode::FAILURE);
}

#[test]
fn rungs_with_other_values_are_wrong() {
    let (table, notes) = output_of("another_table");
    for rung in [
        "constant int4",
        "constant kept",
        "global int4",
        "read-only int4",
        "shared",
    ] {
        assert_eq!(check(&table, rung, "pseudo_random"), "WRONG", "{table}");
    }
    assert_eq!(
        check(&table, "constant", "pseudo_random"),
        "correct",
        "{table}"
    );
    assert!(
        notes.contains("error: constant int4: wrong result: "),
        "{notes}"
    );
}

/// A symbol with one value fewer in the `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_smaller_symbol() {
    fails(
        &PTX.replace("const_values[65536]", "const_values[65532]"),
        "--sums 1",
    );
}

#[test]
fn symbol_size_mismatches_are_reported_with_both_sizes() {
    let (_, notes) = output_of("a_smaller_symbol");
    for part in [
        "error: const_values has 65532 bytes",
        "and 65536 in the Rust code",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
}

/// PTX that names a source file that does not exist.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_missing_source() {
    let flags = "add-constant pseudo_random 64 100 --profile=lines";
    let ptx = PTX.replace("kernels/add-constant.cu", "kernels/gone.cu");
    assert_ne!(ptx, PTX, "the PTX no longer names its source");
    run(&Flags::parse_from(flags.split(' ')), &ptx).unwrap();
}

#[test]
fn lines_of_a_missing_source_have_counters_without_text() {
    let (table, _) = output_of("a_missing_source");
    let expected = "\nCannot find kernels/gone.cu in this folder, its parents or ";
    assert_eq!(table.matches(expected).count(), 2, "{table}");
    let line = table.lines().find(|line| line.ends_with("    82"));
    assert!(
        line.is_some_and(|line| line.starts_with([' ', '>'])),
        "{table}"
    );
}
