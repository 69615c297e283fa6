//! Tests of comparisons against their definitions, by case analysis.

use super::harness::*;
use super::integer::number;
use crate::exec::sm::test_support::random;
use crate::ptx::ast::Type::{self, *};
use std::cmp::Ordering::{self, Equal, Greater, Less};

/// Returns true if a comparison holds for an ordering; `None` means that an operand is NaN.
fn holds(name: &str, order: Option<Ordering>) -> bool {
    match (name, order) {
        ("num", order) => order.is_some(),
        ("nan", order) => order.is_none(),
        ("equ" | "neu" | "ltu" | "leu" | "gtu" | "geu", None) => true,
        (_, None) => false,
        ("eq" | "equ", Some(order)) => order == Equal,
        ("ne" | "neu", Some(order)) => order != Equal,
        ("lt" | "ltu" | "lo", Some(order)) => order == Less,
        ("le" | "leu" | "ls", Some(order)) => order != Greater,
        ("gt" | "gtu" | "hi", Some(order)) => order == Greater,
        (_, Some(order)) => order != Less,
    }
}

const BITS: &[&str] = &["eq", "ne"];
const SIGNED: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
const UNSIGNED: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"];
const FLOAT: &[&str] = &[
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

const TYPES: [(Type, &[&str]); 13] = [
    (B16, BITS),
    (B32, BITS),
    (B64, BITS),
    (U16, UNSIGNED),
    (U32, UNSIGNED),
    (U64, UNSIGNED),
    (S16, SIGNED),
    (S32, SIGNED),
    (S64, SIGNED),
    (F16, FLOAT),
    (BF16, FLOAT),
    (F32, FLOAT),
    (F64, FLOAT),
];

/// Returns the number of exponent and fraction bits of a float type.
fn layout(ty: Type) -> (u32, u32) {
    match ty {
        F16 => (5, 10),
        BF16 => (8, 7),
        F32 => (8, 23),
        _ => (11, 52),
    }
}

/// Compares two registers. Floats are compared as sign and magnitude.
fn order(row: &[u64], ty: Type, ftz: bool) -> Option<Ordering> {
    if !ty.is_float() {
        return Some(number(row[0], ty).cmp(&number(row[1], ty)));
    }
    let (exponent, fraction) = layout(ty);
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let key = |x: u64| {
        let size = x & ((1 << (exponent + fraction)) - 1);
        let size = if ftz && size < 1 << fraction { 0 } else { size };
        let sign = if x >> (exponent + fraction) == 1 {
            -1
        } else {
            1
        };
        (size <= infinity).then_some(sign * i128::from(size))
    };
    Some(key(row[0])?.cmp(&key(row[1])?))
}

/// Returns each comparison of each type, with and without `.ftz`.
fn forms() -> impl Iterator<Item = (Type, &'static str, bool)> {
    TYPES.into_iter().flat_map(|(ty, names)| {
        let flushes = matches!(ty, F32 | F16);
        let flush: &[bool] = if flushes { &[false, true] } else { &[false] };
        names
            .iter()
            .flat_map(move |name| flush.iter().map(move |ftz| (ty, *name, *ftz)))
    })
}

#[test]
fn comparisons_match_their_definitions() {
    for (ty, name, ftz) in forms() {
        let flush = if ftz { ".ftz" } else { "" };
        check(
            named(format!("setp.{name}{flush}"), ty),
            &pairs(ty, ty),
            |row| u64::from(holds(name, order(row, ty, ftz))),
        );
    }
}

#[test]
fn predicate_pairs_and_combinations_match() {
    for (ty, name, ftz) in forms() {
        let flush = if ftz { ".ftz" } else { "" };
        let rows = pairs(ty, ty);
        // The comparison itself is covered without a third operand; with one, every seventh pair suffices.
        let with_third: Vec<Vec<u64>> = rows
            .iter()
            .step_by(7)
            .zip(random(rows.len()))
            .map(|(r, c)| vec![r[0], r[1], c & 1])
            .collect();
        for (combine, f) in [
            ("", (|outcome, _| outcome) as fn(bool, bool) -> bool),
            (".and", |outcome, c| outcome && c),
            (".or", |outcome, c| outcome || c),
            (".xor", |outcome, c| outcome != c),
        ] {
            let all_pairs = combine.is_empty();
            let rows = if all_pairs { &rows } else { &with_third };
            let text = named(format!("setp.{name}{combine}{flush}"), ty);
            let both = |row: &[u64]| {
                let outcome = holds(name, order(row, ty, ftz));
                let third = row.get(2) == Some(&1);
                [outcome, !outcome]
                    .map(|outcome| u64::from(f(outcome, third)))
                    .to_vec()
            };
            check(text.clone(), rows, |row| both(row)[0]);
            check_all(TestForm::from(text).lengths(&[2, 1, 1]), rows, both);
            for (to, truth) in [
                ("u32", 0xffff_ffff),
                ("s32", 0xffff_ffff),
                ("f32", 0x3f80_0000),
            ] {
                let text = named(format!("set.{name}{combine}{flush}.{to}"), ty);
                check(text, rows, |row| both(row)[0] * truth);
            }
        }
    }
}

#[test]
fn selections_match() {
    let types = [B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
    for ty in types {
        let name = ty.modifier();
        check(format!("selp.{name}"), &triples(ty, ty, Pred), |row| {
            if row[2] == 1 { row[0] } else { row[1] }
        });
        check(format!("slct.{name}.s32"), &triples(ty, ty, S32), |row| {
            if row[2] >> 31 == 0 { row[0] } else { row[1] }
        });
        for (flush, ftz) in [("", false), (".ftz", true)] {
            let rows: Vec<Vec<u64>> = edges(F32)
                .into_iter()
                .map(|c| vec![edges(ty)[1], edges(ty)[2], c])
                .collect();
            check(format!("slct{flush}.{name}.f32"), &rows, |row| {
                let order = order(&[row[2], 0], F32, ftz);
                row[usize::from(!matches!(order, Some(Greater | Equal)))]
            });
        }
    }
}
