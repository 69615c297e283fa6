//! Tests of conversions against exact arithmetic: 128-bit integers and software floating point.

use super::harness::{TestForm, check, edges, pairs, singles};
use super::integer::{number, range, register};
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const INTEGERS: [Type; 8] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];
const ROUNDS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

fn text(modifiers: &str, to: Type, from: Type) -> String {
    format!("cvt{modifiers}.{}.{}", to.modifier(), from.modifier())
}

/// Returns a value of type `ty` extended to a register of `bytes` bytes.
fn extended(value: i128, ty: Type, bytes: u32) -> u64 {
    let whole = [Type::U16, Type::U32, Type::U64][bytes.ilog2() as usize - 1];
    register(number(register(value, ty), ty), whole)
}

#[test]
fn integers_convert_through_registers_of_every_width() {
    for (to, from) in INTEGERS
        .into_iter()
        .flat_map(|to| INTEGERS.map(|from| (to, from)))
    {
        for (source, target) in [2, 4, 8]
            .into_iter()
            .flat_map(|source| [2, 4, 8].map(|target| (source, target)))
        {
            if source < from.bytes() || target < to.bytes() {
                continue;
            }
            // The bits of the source register above its type are arbitrary.
            let whole = [Type::U16, Type::U32, Type::U64][source.ilog2() as usize - 1];
            let mut rows = singles(whole);
            rows.extend(edges(from).into_iter().map(|x| vec![x]));
            for (modifier, saturate) in [("", false), (".sat", true)] {
                let written = TestForm {
                    def_bytes: Some(target),
                    use_bytes: Some(source),
                    ..text(modifier, to, from).into()
                };
                check(written, &rows, |row| {
                    let value = number(row[0], from);
                    let (lowest, highest) = range(to);
                    let value = if saturate {
                        value.clamp(lowest, highest)
                    } else {
                        value
                    };
                    extended(value, to, target)
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
    for (to, from) in FLOATS
        .into_iter()
        .flat_map(|to| INTEGERS.map(|from| (to, from)))
    {
        for (name, round) in ROUNDS {
            check(text(&format!(".{name}"), to, from), &singles(from), |row| {
                let value = number(row[0], from);
                match to {
                    Type::F16 => bits::<Half>(value, round),
                    Type::BF16 => bits::<BFloat>(value, round),
                    Type::F32 => bits::<Single>(value, round),
                    _ => bits::<Double>(value, round),
                }
            });
        }
        let one = match to {
            Type::F16 => 0x3c00,
            Type::BF16 => 0x3f80,
            Type::F32 => 0x3f80_0000,
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
        Type::F16 => Half::from_bits(bits).convert_r(nearest, &mut lossy).value,
        Type::BF16 => BFloat::from_bits(bits).convert_r(nearest, &mut lossy).value,
        Type::F32 => Single::from_bits(bits).convert_r(nearest, &mut lossy).value,
        _ => Double::from_bits(bits),
    }
}

fn flushed(bits: u64, ty: Type, ftz: bool) -> u64 {
    let subnormal = ty == Type::F32 && bits & 0x7fff_ffff < 0x0080_0000;
    if ftz && subnormal {
        bits & 0x8000_0000
    } else {
        bits
    }
}

#[test]
fn floats_convert_to_integers() {
    for (to, from) in INTEGERS
        .into_iter()
        .flat_map(|to| FLOATS.map(|from| (to, from)))
    {
        for (name, round) in ROUNDS {
            for ftz in if from == Type::F32 {
                &[false, true][..]
            } else {
                &[false]
            } {
                let flags = format!(".{name}i{}", if *ftz { ".ftz" } else { "" });
                for target in [2, 4, 8].into_iter().filter(|target| *target >= to.bytes()) {
                    let written = TestForm {
                        def_bytes: Some(target),
                        ..text(&flags, to, from).into()
                    };
                    check(written, &singles(from), |row| {
                        let a = widened(flushed(row[0], from, *ftz), from);
                        let (lowest, highest) = range(to);
                        if a.is_nan() {
                            // The PTX ISA's table of conversions of NaN.
                            let zero = from != Type::F64 && to.bytes() < 8;
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
        (Type::F32, Type::F64),
        (Type::F16, Type::F64),
        (Type::BF16, Type::F64),
        (Type::F16, Type::F32),
        (Type::BF16, Type::F32),
        (Type::BF16, Type::F16),
        (Type::F16, Type::BF16),
    ];
    for (to, from) in narrower {
        for (name, round) in ROUNDS {
            for (flag, sat, relu) in [
                ("", false, false),
                (".sat", true, false),
                (".relu", false, true),
            ] {
                if relu && to == Type::F32 {
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
        (Type::F32, Type::F64) => bits >> 63 << 31 | 0x7fc0_0000 | bits >> 29 & 0x007f_ffff,
        (Type::F16, Type::F64) => bits >> 63 << 15 | 0x7e00 | bits >> 42 & 0x03ff,
        (Type::BF16, Type::F64) => bits >> 63 << 15 | 0x7fc0 | bits >> 45 & 0x007f,
        (Type::F32, _) => 0x7fff_ffff,
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
        Type::F16 => narrowed::<Half>(a, round),
        Type::BF16 => narrowed::<BFloat>(a, round),
        Type::F32 => narrowed::<Single>(a, round),
        _ => a.to_bits() as u64,
    }
}

#[test]
fn floats_to_wider_floats_are_exact() {
    let wider = [
        (Type::F64, Type::F32),
        (Type::F64, Type::F16),
        (Type::F64, Type::BF16),
        (Type::F32, Type::F16),
        (Type::F32, Type::BF16),
    ];
    for (to, from) in wider {
        let rows: Vec<_> = singles(from)
            .into_iter()
            .filter(|row| !widened(row[0], from).is_nan())
            .collect();
        check(text("", to, from), &rows, |row| {
            to_bits(widened(row[0], from), to, Round::NearestTiesToEven)
        });
    }
    check(
        "cvt.ftz.f64.f32",
        &[vec![1], vec![0x8040_0000], vec![0x3f80_0000]],
        |row| {
            to_bits(
                widened(flushed(row[0], Type::F32, true), Type::F32),
                Type::F64,
                Round::TowardZero,
            )
        },
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
            let rows: Vec<_> = singles(ty)
                .into_iter()
                .filter(|row| !widened(row[0], ty).is_nan())
                .collect();
            check(text(&format!(".{name}i"), ty, ty), &rows, |row| {
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
    check("cvt.rni.sat.f32.f32", &singles(Type::F32), |row| {
        if f32::from_bits(row[0] as u32) > 0.5 {
            0x3f80_0000
        } else {
            0
        }
    });
    check("cvt.rni.sat.f64.f64", &singles(Type::F64), |row| {
        if f64::from_bits(row[0]) > 0.5 {
            0x3ff0_0000_0000_0000
        } else {
            0
        }
    });
    check(
        "cvt.rzi.f32.f32",
        &[vec![0x7f80_0001], vec![0xffc0_0000]],
        |_| 0x7fff_ffff,
    );
}

#[test]
fn copies_flush_and_saturate() {
    let singles = singles(Type::F32);
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
        if nan {
            0x7fff_ffff
        } else {
            flushed(row[0], Type::F32, true)
        }
    });
    check("cvt.sat.f32.f32", &singles, |row| saturated(row[0]));
    check("cvt.ftz.sat.f32.f32", &singles, |row| {
        saturated(flushed(row[0], Type::F32, true))
    });
    check("cvt.rn.ftz.f32.f64", &self::singles(Type::F64), |row| {
        let a = widened(row[0], Type::F64);
        let bits = to_bits(a, Type::F32, Round::NearestTiesToEven);
        if a.is_nan() {
            narrowed_nan(row[0], Type::F32, Type::F64)
        } else {
            flushed(bits, Type::F32, true)
        }
    });
}

#[test]
fn pairs_convert_into_packed_halves() {
    for (to, half) in [(Type::F16x2, Type::F16), (Type::BF16x2, Type::BF16)] {
        for (name, round) in &ROUNDS[..2] {
            for (flag, relu) in [("", false), (".relu", true)] {
                let form = text(&format!(".{name}{flag}"), to, Type::F32);
                check(form, &pairs(Type::F32, Type::F32), |row| {
                    let one = |bits: u64| {
                        let a = widened(bits, Type::F32);
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
