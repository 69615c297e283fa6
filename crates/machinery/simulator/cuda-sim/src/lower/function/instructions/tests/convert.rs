//! Tests of conversions against exact arithmetic: 128-bit integers and software floating point.

use super::float::flush;
use super::harness::*;
use super::integer::{number, range, register};
use crate::ptx::ast::Type::{self, *};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const INTEGERS: [Type; 8] = [U8, S8, U16, S16, U32, S32, U64, S64];
const FLOATS: [Type; 4] = [F16, BF16, F32, F64];
const ROUNDS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Returns all pairs of elements of two arrays.
fn products<A: Copy, B: Copy, const M: usize, const N: usize>(a: [A; M], b: [B; N]) -> Vec<(A, B)> {
    a.into_iter().flat_map(|a| b.map(|b| (a, b))).collect()
}

fn text(modifiers: &str, to: Type, from: Type) -> String {
    format!("cvt{modifiers}.{}.{}", to.modifier(), from.modifier())
}

/// Returns a value of type `ty` extended to a register of `bytes` bytes.
fn extended(value: i128, ty: Type, bytes: u32) -> u64 {
    let whole = [U16, U32, U64][bytes.ilog2() as usize - 1];
    register(number(register(value, ty), ty), whole)
}

#[test]
fn integers_convert_through_registers_of_every_width() {
    for (to, from) in products(INTEGERS, INTEGERS) {
        for (source, target) in products([2, 4, 8], [2, 4, 8]) {
            if source < from.bytes() || target < to.bytes() {
                continue;
            }
            // The bits of the source register above its type are arbitrary.
            let whole = [U16, U32, U64][source.ilog2() as usize - 1];
            let mut rows = singles(whole);
            rows.extend(edges(from).into_iter().map(|x| vec![x]));
            for (modifier, saturate) in [("", false), (".sat", true)] {
                let written = TestForm::from(text(modifier, to, from));
                let written = written.widths(Some(target), Some(source));
                check(written, &rows, |row| {
                    let value = number(row[0], from);
                    let (lowest, highest) = range(to);
                    let clamped = value.clamp(lowest, highest);
                    extended(if saturate { clamped } else { value }, to, target)
                });
            }
        }
    }
}

#[test]
fn integers_convert_to_floats() {
    fn bits<F: Float>(value: i128, round: Round) -> u64 {
        F::from_i128_r(value, round).value.to_bits() as u64
    }
    for (to, from) in products(FLOATS, INTEGERS) {
        for (name, round) in ROUNDS {
            check(text(&format!(".{name}"), to, from), &singles(from), |row| {
                let value = number(row[0], from);
                match to {
                    F16 => bits::<Half>(value, round),
                    BF16 => bits::<BFloat>(value, round),
                    F32 => bits::<Single>(value, round),
                    _ => bits::<Double>(value, round),
                }
            });
        }
        let one = match to {
            F16 => 0x3c00,
            BF16 => 0x3f80,
            F32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        check(text(".rn.sat", to, from), &singles(from), |row| {
            if number(row[0], from) > 0 { one } else { 0 }
        });
    }
}

/// Converts a float of any type to a double, exactly.
fn widened(bits: u64, ty: Type) -> Double {
    let mut lossy = false;
    let bits = u128::from(bits);
    let nearest = Round::NearestTiesToEven;
    match ty {
        F16 => Half::from_bits(bits).convert_r(nearest, &mut lossy).value,
        BF16 => BFloat::from_bits(bits).convert_r(nearest, &mut lossy).value,
        F32 => Single::from_bits(bits).convert_r(nearest, &mut lossy).value,
        _ => Double::from_bits(bits),
    }
}

fn flushed(bits: u64, ty: Type, ftz: bool) -> u64 {
    if ftz && ty == F32 { flush(bits) } else { bits }
}

#[test]
fn floats_convert_to_integers() {
    for (to, from) in products(INTEGERS, FLOATS) {
        for (name, round) in ROUNDS {
            let flushes: &[bool] = if from == F32 {
                &[false, true]
            } else {
                &[false]
            };
            for ftz in flushes {
                let flags = format!(".{name}i{}", if *ftz { ".ftz" } else { "" });
                for target in [2, 4, 8].into_iter().filter(|target| *target >= to.bytes()) {
                    let written = TestForm::from(text(&flags, to, from));
                    let written = written.widths(Some(target), None);
                    check(written, &singles(from), |row| {
                        let a = widened(flushed(row[0], from, *ftz), from);
                        let (lowest, highest) = range(to);
                        if a.is_nan() {
                            // The PTX ISA's table of conversions of NaN.
                            let zero = from != F64 && to.bytes() < 8;
                            let value = if zero { 0 } else { 1 << (8 * to.bytes() - 1) };
                            return extended(value, to, target);
                        }
                        let mut exact = false;
                        let whole = a.to_i128_r(127, round, &mut exact).value;
                        extended(whole.clamp(lowest, highest), to, target)
                    });
                }
            }
        }
    }
}

#[test]
fn floats_convert_to_narrower_floats() {
    let narrower = [
        (F32, F64),
        (F16, F64),
        (BF16, F64),
        (F16, F32),
        (BF16, F32),
        (BF16, F16),
        (F16, BF16),
    ];
    for (to, from) in narrower {
        for (name, round) in ROUNDS {
            for (flag, sat, relu) in [
                ("", false, false),
                (".sat", true, false),
                (".relu", false, true),
            ] {
                if relu && to == F32 {
                    continue;
                }
                check(
                    text(&format!(".{name}{flag}"), to, from),
                    &singles(from),
                    |row| {
                        let a = widened(row[0], from);
                        if a.is_nan() {
                            return match (sat, relu) {
                                (true, _) => 0,
                                (_, true) => 0x7fff,
                                _ => narrowed_nan(row[0], to, from),
                            };
                        }
                        let one = Double::from_u128(1).value;
                        let a = if sat && a > one { one } else { a };
                        let positive = (sat || relu) && a.is_negative();
                        let a = if positive { Double::ZERO } else { a };
                        to_bits(a, to, round)
                    },
                );
            }
        }
    }
}

/// Returns the result of narrowing a NaN. Only NaNs of doubles keep their sign and the upper bits of their
/// payload.
fn narrowed_nan(bits: u64, to: Type, from: Type) -> u64 {
    match (to, from) {
        (F32, F64) => bits >> 63 << 31 | 0x7fc0_0000 | bits >> 29 & 0x007f_ffff,
        (F16, F64) => bits >> 63 << 15 | 0x7e00 | bits >> 42 & 0x03ff,
        (BF16, F64) => bits >> 63 << 15 | 0x7fc0 | bits >> 45 & 0x007f,
        (F32, _) => 0x7fff_ffff,
        _ => 0x7fff,
    }
}

fn to_bits(a: Double, to: Type, round: Round) -> u64 {
    fn narrowed<F: Float>(a: Double, round: Round) -> u64
    where
        Double: FloatConvert<F>,
    {
        let value: F = a.convert_r(round, &mut false).value;
        value.to_bits() as u64
    }
    match to {
        F16 => narrowed::<Half>(a, round),
        BF16 => narrowed::<BFloat>(a, round),
        F32 => narrowed::<Single>(a, round),
        _ => a.to_bits() as u64,
    }
}

/// Returns one column of edge values that are not NaN.
fn numbers(ty: Type) -> Vec<Vec<u64>> {
    let mut rows = singles(ty);
    rows.retain(|row| !widened(row[0], ty).is_nan());
    rows
}

#[test]
fn floats_to_wider_floats_are_exact() {
    let wider = [(F64, F32), (F64, F16), (F64, BF16), (F32, F16), (F32, BF16)];
    for (to, from) in wider {
        let rows = numbers(from);
        check(text("", to, from), &rows, |row| {
            to_bits(widened(row[0], from), to, Round::NearestTiesToEven)
        });
    }
    check(
        "cvt.ftz.f64.f32",
        &[vec![1], vec![0x8040_0000], vec![0x3f80_0000]],
        |row| to_bits(widened(flush(row[0]), F32), F64, Round::TowardZero),
    );
    // A NaN keeps its payload and becomes quiet.
    check(
        "cvt.f64.f32",
        &[vec![0x7f80_0001], vec![0xffc0_1234]],
        |row| (row[0] >> 31) << 63 | 0x7ff8 << 48 | (row[0] & 0x007f_ffff) << 29,
    );
    check("cvt.f32.f16", &[vec![0x7c01], vec![0xfe00]], |_| {
        0x7fff_ffff
    });
}

#[test]
fn floats_round_to_integral_values() {
    for ty in FLOATS {
        for (name, round) in ROUNDS {
            check(text(&format!(".{name}i"), ty, ty), &numbers(ty), |row| {
                let whole = widened(row[0], ty).round_to_integral(round).value;
                to_bits(whole, ty, Round::NearestTiesToEven)
            });
        }
    }
    check(
        "cvt.rpi.ftz.f32.f32",
        &[vec![1], vec![0x8000_0001]],
        |row| row[0] & 0x8000_0000,
    );
    check("cvt.rni.sat.f32.f32", &singles(F32), |row| {
        u64::from(f32::from_bits(row[0] as u32) > 0.5) * 0x3f80_0000
    });
    check("cvt.rni.sat.f64.f64", &singles(F64), |row| {
        u64::from(f64::from_bits(row[0]) > 0.5) * 0x3ff0_0000_0000_0000
    });
    check(
        "cvt.rzi.f32.f32",
        &[vec![0x7f80_0001], vec![0xffc0_0000]],
        |_| 0x7fff_ffff,
    );
}

#[test]
fn copies_flush_and_saturate() {
    let singles = singles(F32);
    let saturated = |x: u64| {
        let value = f32::from_bits(x as u32);
        if value.is_nan() || value <= 0.0 {
            0
        } else {
            u64::from(value.min(1.0).to_bits())
        }
    };
    check("cvt.f32.f32", &singles, |row| row[0]);
    check("cvt.ftz.f32.f32", &singles, |row| {
        let nan = f32::from_bits(row[0] as u32).is_nan();
        if nan { 0x7fff_ffff } else { flush(row[0]) }
    });
    check("cvt.sat.f32.f32", &singles, |row| saturated(row[0]));
    check("cvt.ftz.sat.f32.f32", &singles, |row| {
        saturated(flush(row[0]))
    });
    check("cvt.rn.ftz.f32.f64", &self::singles(F64), |row| {
        let a = widened(row[0], F64);
        let bits = to_bits(a, F32, Round::NearestTiesToEven);
        if a.is_nan() {
            narrowed_nan(row[0], F32, F64)
        } else {
            flush(bits)
        }
    });
}

#[test]
fn pairs_convert_into_packed_halves() {
    for (to, half) in [(F16x2, F16), (BF16x2, BF16)] {
        for (name, round) in &ROUNDS[..2] {
            for (flag, relu) in [("", false), (".relu", true)] {
                let form = text(&format!(".{name}{flag}"), to, F32);
                check(form, &pairs(F32, F32), |row| {
                    let one = |bits: u64| {
                        let a = widened(bits, F32);
                        if a.is_nan() {
                            0x7fff
                        } else if relu && a.is_negative() {
                            0
                        } else {
                            to_bits(a, half, *round)
                        }
                    };
                    one(row[0]) << 16 | one(row[1])
                });
            }
        }
    }
}
