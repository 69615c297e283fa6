//! Tests of floating-point arithmetic with rounding to nearest, against software floating point, and of signs
//! and properties.

use super::harness::{check, pairs, singles, triples};
use crate::ptx::ast::Type;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::{Double, Single};

pub const NAN: u64 = 0x7fff_ffff;
pub const FLAGS: [(&str, bool, bool); 4] = [
    ("", false, false),
    (".ftz", true, false),
    (".sat", false, true),
    (".ftz.sat", true, true),
];

pub fn flush(bits: u64) -> u64 {
    if bits & 0x7fff_ffff < 0x0080_0000 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// The scale by which results are raised, as a power of two, so that they are rounded to full precision.
const RAISED: u64 = 24;

/// Scales up the first factor or the dividend, and therefore the result.
pub fn raise_first(row: &mut [u64]) {
    let is_zero = row[0] & 0x7fff_ffff == 0;
    row[0] += if is_zero { 0 } else { RAISED << 23 };
}

/// Scales up one factor and the addend.
pub fn raise_product_and_sum(row: &mut [u64]) {
    raise_first(row);
    raise_first(&mut row[2..]);
}

/// Scales down the divisor.
pub fn lower_divisor(row: &mut [u64]) {
    row[0] -= RAISED << 23;
}

/// Applies the modifiers to an operation on bits that never rounds up to the smallest normal number.
pub fn modified(row: &[u64], ftz: bool, sat: bool, bare: impl Fn(&[u64]) -> u64) -> u64 {
    modified_if_raised(row, ftz, sat, |_| {}, bare)
}

/// Applies the modifiers to an operation on bits. With `.ftz`, a result equal to the smallest normal number
/// is kept only if it is not subnormal before rounding, which is tested with operands scaled by `raise`.
pub fn modified_if_raised(
    row: &[u64],
    ftz: bool,
    sat: bool,
    raise: impl Fn(&mut [u64]),
    bare: impl Fn(&[u64]) -> u64,
) -> u64 {
    let mut operands: Vec<u64> = row
        .iter()
        .map(|&x| if ftz { flush(x) } else { x })
        .collect();
    let mut result = bare(&operands);
    if ftz {
        result = flush(result);
        let before = operands.clone();
        if result & 0x7fff_ffff == 0x0080_0000 {
            raise(&mut operands);
        }
        if operands != before && bare(&operands) & 0x7fff_ffff < (1 + RAISED) << 23 {
            result &= 0x8000_0000;
        }
    }
    let value = f32::from_bits(result as u32);
    match (value.is_nan(), sat) {
        (true, true) => 0,
        (true, false) => NAN,
        (_, true) => u64::from(value.clamp(0.0, 1.0).to_bits()) & 0x7fff_ffff,
        _ => result,
    }
}

pub fn soft(bits: u64) -> Single {
    Single::from_bits(bits.into())
}

pub fn hard(value: Single) -> u64 {
    value.to_bits() as u64
}

pub fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Returns the NaN of an operation: the first operand that is NaN, made quiet, or else the default NaN.
pub fn or_nan(row: &[u64], result: f64) -> u64 {
    if !result.is_nan() {
        return result.to_bits();
    }
    let operand = row.iter().find(|x| double(**x).is_nan());
    operand.map_or(0xfff8_0000_0000_0000, |nan| nan | 0x0008_0000_0000_0000)
}

#[test]
fn single_precision_rounds_to_nearest() {
    for (flags, ftz, sat) in FLAGS {
        let two = |name: &str, raise: fn(&mut [u64]), f: &dyn Fn(Single, Single) -> Single| {
            check(
                format!("{name}{flags}.f32"),
                &pairs(Type::F32, Type::F32),
                |row| {
                    let bare = |r: &[u64]| hard(f(soft(r[0]), soft(r[1])));
                    modified_if_raised(row, ftz, sat, raise, bare)
                },
            );
        };
        two("add", |_| {}, &|a, b| (a + b).value);
        two("add.rn", |_| {}, &|a, b| (a + b).value);
        two("sub.rn", |_| {}, &|a, b| (a - b).value);
        two("mul.rn", raise_first, &|a, b| (a * b).value);
        for name in ["fma", "mad"] {
            check(
                format!("{name}.rn{flags}.f32"),
                &triples(Type::F32, Type::F32, Type::F32),
                |row| {
                    modified_if_raised(row, ftz, sat, raise_product_and_sum, |r| {
                        hard(soft(r[0]).mul_add(soft(r[1]), soft(r[2])).value)
                    })
                },
            );
        }
        if sat {
            continue;
        }
        two("div.rn", raise_first, &|a, b| (a / b).value);
        two("div.full", raise_first, &|a, b| (a / b).value);
        for name in ["rcp.rn", "rcp.approx"] {
            check(format!("{name}{flags}.f32"), &singles(Type::F32), |row| {
                modified_if_raised(row, ftz, sat, lower_divisor, |r| {
                    hard((soft(0x3f80_0000) / soft(r[0])).value)
                })
            });
        }
        for name in ["sqrt.rn", "sqrt.approx"] {
            check(format!("{name}{flags}.f32"), &singles(Type::F32), |row| {
                modified(row, ftz, sat, |r| {
                    u64::from(f32::from_bits(r[0] as u32).sqrt().to_bits())
                })
            });
        }
    }
}

#[test]
fn double_precision_rounds_to_nearest() {
    let soft = |x: u64| Double::from_bits(x.into());
    let hard = |x: Double| double(x.to_bits() as u64);
    let two = |form: &str, f: &dyn Fn(Double, Double) -> Double| {
        check(form, &pairs(Type::F64, Type::F64), |r| {
            // The second operand's NaN takes precedence, except in a division.
            let order = if form.starts_with("div") {
                [r[0], r[1]]
            } else {
                [r[1], r[0]]
            };
            or_nan(&order, hard(f(soft(r[0]), soft(r[1]))))
        });
    };
    two("add.f64", &|a, b| (a + b).value);
    two("sub.rn.f64", &|a, b| (a - b).value);
    two("mul.rn.f64", &|a, b| (a * b).value);
    two("div.rn.f64", &|a, b| (a / b).value);
    check(
        "fma.rn.f64",
        &triples(Type::F64, Type::F64, Type::F64),
        |r| {
            let result = soft(r[0]).mul_add(soft(r[1]), soft(r[2])).value;
            or_nan(&[r[1], r[2], r[0]], hard(result))
        },
    );
    check("rcp.rn.f64", &singles(Type::F64), |r| {
        or_nan(r, hard((soft(1f64.to_bits()) / soft(r[0])).value))
    });
    check("sqrt.rn.f64", &singles(Type::F64), |r| {
        or_nan(r, double(r[0]).sqrt())
    });
}

#[test]
fn sign_operations_preserve_bits_except_for_nans() {
    let top = 1u64 << 31;
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(format!("abs{flags}.f32"), &singles(Type::F32), |r| {
            modified(r, ftz, false, |r| r[0] & !top)
        });
        check(format!("neg{flags}.f32"), &singles(Type::F32), |r| {
            modified(r, ftz, false, |r| r[0] ^ top)
        });
    }
    check("copysign.f32", &pairs(Type::F32, Type::F32), |r| {
        r[0] & top | r[1] & !top
    });
    let top = 1u64 << 63;
    let number_or_quiet = |operand: u64, result: u64| {
        if double(operand).is_nan() {
            operand | 1 << 51
        } else {
            result
        }
    };
    check("abs.f64", &singles(Type::F64), |r| {
        number_or_quiet(r[0], r[0] & !top)
    });
    check("neg.f64", &singles(Type::F64), |r| {
        number_or_quiet(r[0], r[0] ^ top)
    });
    check("copysign.f64", &pairs(Type::F64, Type::F64), |r| {
        r[0] & top | r[1] & !top
    });
}

#[test]
fn testp_matches_bit_patterns() {
    for (ty, exponent, fraction) in [(Type::F32, 0xff, 23), (Type::F64, 0x7ff, 52)] {
        /// A predicate of: exponent is maximal, exponent is minimal, fraction is zero.
        type Holds = fn(bool, bool, bool) -> bool;
        let kinds: [(&str, Holds); 6] = [
            ("finite", |top, _, _| !top),
            ("infinite", |top, _, none| top && none),
            ("number", |top, _, none| !top || none),
            ("notanumber", |top, _, none| top && !none),
            ("normal", |top, low, none| !top && (!low || none)),
            ("subnormal", |_, low, none| low && !none),
        ];
        for (kind, holds) in kinds {
            check(
                format!("testp.{kind}.{}", ty.modifier()),
                &singles(ty),
                |r| {
                    let bits = r[0] >> fraction & exponent;
                    let none = r[0] & ((1 << fraction) - 1) == 0;
                    u64::from(holds(bits == exponent, bits == 0, none))
                },
            );
        }
    }
}
