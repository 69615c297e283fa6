//! Tests that run the chapter with incorrect kernels, each in its own process, and expect them to be detected.

use chapter::ladder::Choice;
use chapter_test::{output_of, row};
use stencil_readonly::variant::VARIANTS;

use super::*;

/// Runs the chapter like `main`, but with `ptx`, and fails unless the chapter fails.
fn fails(ptx: &str) {
    assert_ne!(
        ptx, PTX,
        "the kernels no longer contain the text to replace"
    );
    let words = "stencil-readonly --size 1000 --block 100";
    let flags = Flags::parse_from(words.split(' '));
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

/// The third coefficient instead of the second.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_wrong_coefficient() {
    fails(&PTX.replace("[coef+8]", "[coef+12]"));
}

#[test]
fn a_wrong_derivative_is_reported() {
    let (table, notes) = output_of("a_wrong_coefficient");
    let constant = row(&table, "constant");
    assert_eq!(constant.last(), Some(&"WRONG"), "{table}");
    // The coefficient is 0.038 instead of −0.2, so the error is 2 · 2 · 0.238.
    let error: f64 = constant[3].parse().unwrap();
    assert!((0.9..1.0).contains(&error), "{table}");
    for right in ["__ldg", "const __restrict__", "device copy"] {
        let row = row(&table, right);
        assert_eq!(row.last(), Some(&"correct"), "{table}");
        // Nothing is compared with a wrong result.
        assert_eq!(row[5], "–", "{table}");
    }
    let expected = "error: constant: wrong result: 1000 of 1000 differ: point 0 is ";
    assert!(notes.contains(expected), "{notes}");
}

/// All points except the last.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_forgotten_point() {
    let check = PTX.rfind("setp.ge.s32").unwrap();
    let (before, store) = PTX.split_at(check);
    let size = store.split([',', ';']).nth(2).unwrap();
    let fewer = format!("add.s32 {size}, {size}, -1;\n\t");
    fails(&format!("{before}{fewer}{store}"));
}

#[test]
fn an_unwritten_point_keeps_the_poison() {
    let (table, notes) = output_of("a_forgotten_point");
    assert_eq!(row(&table, "constant").last(), Some(&"correct"), "{table}");
    let restrict = row(&table, "const __restrict__");
    assert_eq!(restrict.last(), Some(&"WRONG"), "{table}");
    assert_eq!(restrict[3], "NaN", "{table}");
    let expected = "error: const __restrict__: wrong result: 1 of 1000 differ: point 999 is NaN";
    assert!(notes.contains(expected), "{notes}");
}

/// Threads 0 to 2 load the halo, and thread 3 does not.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_forgotten_halo() {
    fails(&PTX.replacen(", 3;\n", ", 2;\n", 1));
}

#[test]
fn a_missing_halo_point_is_detected() {
    let (table, notes) = output_of("a_forgotten_halo");
    assert_eq!(row(&table, "constant").last(), Some(&"WRONG"), "{table}");
    assert!(notes.contains("error: constant: wrong result: "), "{notes}");
}

/// The third point of each vector of results is stored twice.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_wrong_rung() {
    let row = VARIANTS.iter().find(|row| row.name == "vectors").unwrap();
    let (before, store) = row.ptx.split_at(row.ptx.find("st.global.v4.f32").unwrap());
    let (store, after) = store.split_once('}').unwrap();
    let (three, _) = store.rsplit_once(',').unwrap();
    let (_, third) = three.rsplit_once(',').unwrap();
    let mut wrong = *row;
    wrong.config.ptx = format!("{before}{three},{third}}}{after}").leak();

    let words = "stencil-readonly --size 1000 --variant ladder";
    let mut flags = Flags::parse_from(words.split(' '));
    // If two rows have the same name, the first one runs.
    flags
        .variant
        .insert(0, Choice::One(Box::leak(Box::new(wrong))));
    assert_eq!(common::error::exit(run(&flags, PTX)), ExitCode::FAILURE);
}

#[test]
fn a_wrong_rung_is_reported() {
    let (table, notes) = output_of("a_wrong_rung");
    assert_eq!(row(&table, "vectors").last(), Some(&"WRONG"), "{table}");
    for right in ["constant", "cached", "aligned", "read only"] {
        assert_eq!(row(&table, right).last(), Some(&"correct"), "{table}");
    }
    let expected = "error: vectors: wrong result: 250 of 1000 differ: point 3 is ";
    assert!(notes.contains(expected), "{notes}");
}

/// A symbol with one coefficient more in the `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_larger_symbol() {
    fails(&PTX.replace("coef[20]", "coef[24]"));
}

#[test]
fn symbol_size_mismatches_are_reported_with_both_sizes() {
    let (_, notes) = output_of("a_larger_symbol");
    for part in ["error: coef has 24 bytes", "and 20 in the Rust code"] {
        assert!(notes.contains(part), "{notes}");
    }
}
