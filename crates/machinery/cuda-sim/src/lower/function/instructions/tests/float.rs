//! Floating-point arithmetic to nearest, against software floating point; signs and properties.

use super::harness::{check, ones, pairs, triples};
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

/// What the modifiers make of a bare operation on bits.
pub fn modified(row: &[u64], ftz: bool, sat: bool, bare: impl Fn(&[u64]) -> u64) -> u64 {
    let flushed: Vec<u64> = row
        .iter()
        .map(|&x| if ftz { flush(x) } else { x })
        .collect();
    let result = bare(&flushed);
    let result = if ftz { flush(result) } else { result };
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

/// The NaN of an operation: the first operand that is one in the order given, quiet, else the
/// default.
pub fn or_nan(row: &[u64], result: f64) -> u64 {
    if !result.is_nan() {
        return result.to_bits();
    }
    let given = row.iter().find(|x| double(**x).is_nan());
    given.map_or(0xfff8_0000_0000_0000, |nan| nan | 0x0008_0000_0000_0000)
}

#[test]
fn single_to_nearest() {
    for (flags, ftz, sat) in FLAGS {
        let two = |name: &str, f: &dyn Fn(Single, Single) -> Single| {
            check(
                format!("{name}{flags}.f32"),
                &pairs(Type::F32, Type::F32),
                |row| modified(row, ftz, sat, |r| hard(f(soft(r[0]), soft(r[1])))),
            );
        };
        two("add", &|a, b| (a + b).value);
        two("add.rn", &|a, b| (a + b).value);
        two("sub.rn", &|a, b| (a - b).value);
        two("mul.rn", &|a, b| (a * b).value);
        for name in ["fma", "mad"] {
            check(
                format!("{name}.rn{flags}.f32"),
                &triples(Type::F32, Type::F32, Type::F32),
                |row| {
                    modified(row, ftz, sat, |r| {
                        hard(soft(r[0]).mul_add(soft(r[1]), soft(r[2])).value)
                    })
                },
            );
        }
        if sat {
            continue;
        }
        two("div.rn", &|a, b| (a / b).value);
        two("div.full", &|a, b| (a / b).value);
        for name in ["rcp.rn", "rcp.approx"] {
            check(format!("{name}{flags}.f32"), &ones(Type::F32), |row| {
                modified(row, ftz, sat, |r| {
                    hard((soft(0x3f80_0000) / soft(r[0])).value)
                })
            });
        }
        for name in ["sqrt.rn", "sqrt.approx"] {
            check(format!("{name}{flags}.f32"), &ones(Type::F32), |row| {
                modified(row, ftz, sat, |r| {
                    u64::from(f32::from_bits(r[0] as u32).sqrt().to_bits())
                })
            });
        }
    }
}

#[test]
fn double_to_nearest() {
    let soft = |x: u64| Double::from_bits(x.into());
    let hard = |x: Double| double(x.to_bits() as u64);
    let two = |form: &str, f: &dyn Fn(Double, Double) -> Double| {
        check(form, &pairs(Type::F64, Type::F64), |r| {
            // The second operand's NaN goes first, but for a division.
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
    check("rcp.rn.f64", &ones(Type::F64), |r| {
        or_nan(r, hard((soft(1f64.to_bits()) / soft(r[0])).value))
    });
    check("sqrt.rn.f64", &ones(Type::F64), |r| {
        or_nan(r, double(r[0]).sqrt())
    });
}

#[test]
fn signs_are_one_bit_but_a_nan_is_arithmetic() {
    let top = 1u64 << 31;
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(format!("abs{flags}.f32"), &ones(Type::F32), |r| {
            modified(r, ftz, false, |r| r[0] & !top)
        });
        check(format!("neg{flags}.f32"), &ones(Type::F32), |r| {
            modified(r, ftz, false, |r| r[0] ^ top)
        });
    }
    check("copysign.f32", &pairs(Type::F32, Type::F32), |r| {
        r[0] & top | r[1] & !top
    });
    let top = 1u64 << 63;
    let number_or_quiet = |given: u64, result: u64| {
        if double(given).is_nan() {
            given | 1 << 51
        } else {
            result
        }
    };
    check("abs.f64", &ones(Type::F64), |r| {
        number_or_quiet(r[0], r[0] & !top)
    });
    check("neg.f64", &ones(Type::F64), |r| {
        number_or_quiet(r[0], r[0] ^ top)
    });
    check("copysign.f64", &pairs(Type::F64, Type::F64), |r| {
        r[0] & top | r[1] & !top
    });
}

#[test]
fn properties() {
    for (ty, exponent, fraction) in [(Type::F32, 0xff, 23), (Type::F64, 0x7ff, 52)] {
        /// From: top exponent, lowest exponent, no fraction.
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
            check(format!("testp.{kind}.{}", ty.modifier()), &ones(ty), |r| {
                let bits = r[0] >> fraction & exponent;
                let none = r[0] & ((1 << fraction) - 1) == 0;
                u64::from(holds(bits == exponent, bits == 0, none))
            });
        }
    }
}
