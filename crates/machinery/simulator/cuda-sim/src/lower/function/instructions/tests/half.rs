//! Tests of half-precision arithmetic against software floating point.

use super::harness::{check, named, pairs, singles, triples};
use crate::ptx::ast::Type::{self, *};
use rustc_apfloat::ieee::{BFloat, Half};
use rustc_apfloat::{Float, Round};

const NAN: u64 = 0x7fff;

fn check_all<F: Float>(ty: Type, packed: &str, flags: &[(&str, bool, bool, bool)]) {
    let soft = |x: u64| F::from_bits(u128::from(x));
    let smallest_normal = if ty == F16 { 0x400 } else { 0x80 };
    let one = if ty == F16 { 0x3c00 } else { 0x3f80 };
    let flush = |x: u64| {
        x & if x & 0x7fff < smallest_normal {
            0x8000
        } else {
            u64::MAX
        }
    };
    let modified = |ftz: bool, sat: bool, relu: bool, row: &[u64], f: &dyn Fn(&[F], Round) -> F| {
        let row = row.iter().map(|&x| soft(if ftz { flush(x) } else { x }));
        let row: Vec<F> = row.collect();
        let value = f(&row, Round::NearestTiesToEven);
        // A product is flushed if it is subnormal before rounding.
        let truncated = f(&row, Round::TowardZero).to_bits() as u64;
        let bits = if ftz && truncated & 0x7fff < smallest_normal {
            truncated & 0x8000
        } else {
            value.to_bits() as u64
        };
        match () {
            _ if value.is_nan() => u64::from(!sat) * NAN,
            _ if (sat || relu) && bits >> 15 == 1 => 0,
            _ if sat => bits.min(one),
            _ => bits,
        }
    };
    let name = ty.modifier();
    for &(flag, ftz, sat, relu) in flags {
        let two = |mnemonic: &str, f: &dyn Fn(F, F, Round) -> F| {
            if relu {
                return;
            }
            let reference =
                |row: &[u64]| modified(ftz, sat, relu, row, &|r, round| f(r[0], r[1], round));
            check(
                format!("{mnemonic}{flag}.{name}"),
                &pairs(ty, ty),
                reference,
            );
            // Packed pairs: each row is combined with its neighbour.
            let rows: Vec<Vec<u64>> = pairs(ty, ty)
                .windows(2)
                .map(|w| vec![w[0][0] | w[1][0] << 16, w[0][1] | w[1][1] << 16])
                .collect();
            check(format!("{mnemonic}{flag}.{packed}"), &rows, |row| {
                let halves =
                    [0, 16].map(|at| reference(&[row[0] >> at & 0xffff, row[1] >> at & 0xffff]));
                halves[0] | halves[1] << 16
            });
        };
        two("add", &|a, b, round| a.add_r(b, round).value);
        two("sub.rn", &|a, b, round| a.sub_r(b, round).value);
        two("mul.rn", &|a, b, round| a.mul_r(b, round).value);
        // An H200 rounds the result of an fma before it flushes it.
        check(
            format!("fma.rn{flag}.{name}"),
            &triples(ty, ty, ty),
            |row| modified(ftz, sat, relu, row, &|r, _| r[0].mul_add(r[1], r[2]).value),
        );
    }
    let or_nan = |x: u64, result: u64| if soft(x).is_nan() { NAN } else { result };
    check(named("neg", ty), &singles(ty), |row| {
        or_nan(row[0], row[0] ^ 0x8000)
    });
    check(named("abs", ty), &singles(ty), |row| {
        or_nan(row[0], row[0] & 0x7fff)
    });

    let ordinal = |x: u64| {
        if x >> 15 == 1 {
            -1 - (x & 0x7fff) as i64
        } else {
            x as i64
        }
    };
    for (mnemonic, is_min) in [("min", true), ("max", false)] {
        for (flag, nan_wins, xor_sign) in [
            ("", false, false),
            (".NaN", true, false),
            (".xorsign.abs", false, true),
        ] {
            check(format!("{mnemonic}{flag}.{name}"), &pairs(ty, ty), |row| {
                let sign = (row[0] ^ row[1]) & if xor_sign { 0x8000 } else { 0 };
                let [a, b] = [row[0], row[1]].map(|x| if xor_sign { x & 0x7fff } else { x });
                match (soft(a).is_nan(), soft(b).is_nan()) {
                    (true, true) => NAN,
                    (false, false) if (ordinal(a) < ordinal(b)) == is_min => sign | a,
                    (false, false) => sign | b,
                    _ if nan_wins => NAN,
                    (true, _) => sign | b,
                    _ => sign | a,
                }
            });
        }
    }
}

#[test]
fn f16_matches_software_floats() {
    check_all::<Half>(
        F16,
        "f16x2",
        &[
            ("", false, false, false),
            (".ftz", true, false, false),
            (".sat", false, true, false),
            (".ftz.sat", true, true, false),
            (".relu", false, false, true),
        ],
    );
}

#[test]
fn bf16_matches_software_floats() {
    check_all::<BFloat>(
        BF16,
        "bf16x2",
        &[("", false, false, false), (".relu", false, false, true)],
    );
}

#[test]
fn special_functions_have_exact_values() {
    let table = [
        (0u64, 0x3c00),
        (0x3c00, 0x4000),
        (0xfc00, 0),
        (0x7c00, 0x7c00),
        (0x7e00, NAN),
    ];
    let rows: Vec<Vec<u64>> = table.iter().map(|(a, _)| vec![*a]).collect();
    check("ex2.approx.f16", &rows, |row| {
        table.iter().find(|t| t.0 == row[0]).map_or(1, |t| t.1)
    });
    let rows: Vec<Vec<u64>> = table.iter().map(|(a, _)| vec![a | a << 16]).collect();
    check("ex2.approx.f16x2", &rows, |row| {
        table
            .iter()
            .find(|t| t.0 == row[0] & 0xffff)
            .map_or(1, |t| t.1 | t.1 << 16)
    });
    let table = [
        (0x8000u64, 0x8000),
        (0x7f80, 0x3f80),
        (0xff80, 0xbf80),
        (0x7fc0, NAN),
    ];
    let rows: Vec<Vec<u64>> = table.iter().map(|(a, _)| vec![*a]).collect();
    check("tanh.approx.bf16", &rows, |row| {
        table.iter().find(|t| t.0 == row[0]).map_or(1, |t| t.1)
    });
    check(
        "ex2.approx.ftz.bf16",
        &[vec![0x4000], vec![0xff80], vec![0xc301]],
        |row| {
            if row[0] == 0x4000 { 0x4080 } else { 0 }
        },
    );
}

#[test]
fn products_are_flushed_before_rounding() {
    // The number before 1 times the smallest normal number, which rounds to the smallest normal number.
    const ROWS: [[u64; 2]; 2] = [[0x3bff, 0x0400], [0xbbff, 0x0400]];
    let rows: Vec<Vec<u64>> = ROWS.map(Vec::from).to_vec();
    check("mul.f16", &rows, |row| row[0] & 0x8000 | 0x0400);
    check("mul.ftz.f16", &rows, |row| row[0] & 0x8000);
    let rows: Vec<Vec<u64>> = ROWS.map(|[a, b]| vec![a, b, 0]).to_vec();
    // The result of an fma is rounded first.
    check("fma.rn.ftz.f16", &rows, |row| row[0] & 0x8000 | 0x0400);
}
