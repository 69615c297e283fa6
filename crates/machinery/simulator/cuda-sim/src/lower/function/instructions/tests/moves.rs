//! Tests of `mov`: copies, splits and joins.

use super::harness::{TestForm, check, check_all, refusal, singles};
use crate::exec::cpu::Cpu;
use crate::exec::ops::FormError;
use crate::ptx::ast::Type;

#[test]
fn copies_preserve_bits() {
    let types = [
        Type::Pred,
        Type::B16,
        Type::B32,
        Type::B64,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::S16,
        Type::S32,
        Type::S64,
        Type::F32,
        Type::F64,
    ];
    for ty in types {
        check(format!("mov.{}", ty.modifier()), &singles(ty), |row| row[0]);
    }
    assert_eq!(refusal("mov.b8"), FormError::Type("b8".into()));
}

#[test]
fn splits_and_joins_match() {
    for (ty, part, parts) in [
        (Type::B32, Type::B16, 2),
        (Type::B64, Type::B32, 2),
        (Type::B64, Type::B16, 4),
    ] {
        let width = 8 * part.bytes();
        let split = |x: u64| -> Vec<u64> {
            (0..parts)
                .map(|n| x >> (n * width) & (u64::MAX >> (64 - width)))
                .collect()
        };
        let text = format!("mov.{}", ty.modifier());
        let written = TestForm {
            lengths: vec![parts as usize, 1],
            ..text.as_str().into()
        };
        check_all(written, &singles(ty), |row| split(row[0]));
        let rows: Vec<Vec<u64>> = singles(ty).iter().map(|row| split(row[0])).collect();
        let written = TestForm {
            lengths: vec![1, parts as usize],
            ..text.as_str().into()
        };
        check(written, &rows, |row| {
            (0u32..)
                .zip(row)
                .map(|(n, &part)| part << (n * width))
                .sum()
        });
    }
}

#[test]
fn unsupported_splits_are_rejected() {
    for (text, lengths) in [
        ("mov.b64", vec![3, 1]),
        ("mov.u64", vec![2, 1]),
        ("mov.b32", vec![1, 4]),
    ] {
        let parts = lengths[0].max(lengths[1]);
        let written = TestForm {
            lengths,
            ..text.into()
        };
        let error = super::harness::op(&written, Cpu::Baseline).err();
        assert_eq!(error, Some(FormError::Vector(&text[4..], parts)));
    }
}
