//! The chapter with incorrect kernels, each in its own process.

use add_constant::variant::VARIANTS;
use chapter::ladder::Choice;
use chapter_test::{printed_by, rows};

use super::*;

/// Runs the chapter like `main`, but with `ptx`, and fails unless the chapter fails.
fn fails(ptx: &str, arguments: &str) {
    assert_ne!(ptx, PTX, "the kernels no longer have what is changed here");
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
fn values_from_wrong_places_are_shown_and_an_error() {
    let (table, notes) = printed_by("another_magic_number");
    for memory in ["global", "constant"] {
        assert_eq!(check(&table, memory, "pseudo_random"), "WRONG", "{table}");
        assert_eq!(
            check(&table, memory, "one_access_per_warp"),
            "right",
            "{table}"
        );
    }
    assert_eq!(check(&table, "vector", "–"), "right", "{table}");
    // Thread 0 of each of the ten blocks reads value 0 with either number.
    let wanted = "error: global is wrong: 990 of 1000 differ: sum 1 is ";
    assert!(notes.contains(wanted), "{notes}");
}

/// Values at other indices of each rung's table.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_table() {
    let words = "add-constant --sums 1000 --block 100 pseudo_random";
    let mut flags = Flags::parse_from(words.split(' '));
    let rows = VARIANTS.iter().map(|row| match row.is_the_notes() {
        true => Choice::One(row),
        false => {
            let mut wrong = *row;
            wrong.own.ptx = row.ptx.replace(", 1357", ", 1359").leak();
            assert_ne!(
                wrong.ptx, row.ptx,
                "the rung no longer has what is changed here"
            );
            Choice::One(Box::leak(Box::new(wrong)))
        }
    });
    flags.variant = rows.collect();
    assert_eq!(common::error::exit(run(&flags, PTX)), ExitCode::FAILURE);
}

#[test]
fn rungs_that_add_other_values_are_wrong() {
    let (table, notes) = printed_by("another_table");
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
        "right",
        "{table}"
    );
    assert!(notes.contains("error: constant int4 is wrong: "), "{notes}");
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
fn a_symbol_of_another_size_is_an_error_with_both_sizes() {
    let (_, notes) = printed_by("a_smaller_symbol");
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
fn a_source_that_is_gone() {
    let flags = "add-constant pseudo_random 64 100 --profile=lines";
    let ptx = PTX.replace("kernels/add-constant.cu", "kernels/gone.cu");
    assert_ne!(ptx, PTX, "the PTX no longer names its source");
    run(&Flags::parse_from(flags.split(' ')), &ptx).unwrap();
}

#[test]
fn lines_of_a_source_that_is_gone_have_counters_and_no_text() {
    let (table, _) = printed_by("a_source_that_is_gone");
    let wanted = "\nThere is no kernels/gone.cu in this folder, in one above it or in ";
    assert_eq!(table.matches(wanted).count(), 2, "{table}");
    let line = table.lines().find(|line| line.ends_with("    82"));
    assert!(
        line.is_some_and(|line| line.starts_with([' ', '>'])),
        "{table}"
    );
}
