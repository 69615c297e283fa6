//! Tests of floating-point arithmetic: with rounding to nearest, against software floating point; with directed
//! rounding, against the exact value as determined by error-free transformations in double precision; of
//! approximate divisions and roots; of `min` and `max` against the order of numbers; of signs and properties.

use super::harness::*;
use crate::ptx::ast::Type::*;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::{Double, Single};
use std::cmp::Ordering;

pub const NAN: u64 = 0x7fff_ffff;
pub const FLAGS: [(&str, bool, bool); 4] = [
    ("", false, false),
    (".ftz", true, false),
    (".sat", false, true),
    (".ftz.sat", true, true),
];

pub fn flush(bits: u64) -> u64 {
    let is_subnormal = bits & 0x7fff_ffff < 0x0080_0000;
    bits & if is_subnormal { 1 << 31 } else { u64::MAX }
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
    let flushed = row.iter().map(|&x| if ftz { flush(x) } else { x });
    let mut operands: Vec<u64> = flushed.collect();
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
            check(format!("{name}{flags}.f32"), &pairs(F32, F32), |row| {
                let bare = |r: &[u64]| hard(f(soft(r[0]), soft(r[1])));
                modified_if_raised(row, ftz, sat, raise, bare)
            });
        };
        two("add", |_| {}, &|a, b| (a + b).value);
        two("add.rn", |_| {}, &|a, b| (a + b).value);
        two("sub.rn", |_| {}, &|a, b| (a - b).value);
        two("mul.rn", raise_first, &|a, b| (a * b).value);
        for name in ["fma", "mad"] {
            check(
                format!("{name}.rn{flags}.f32"),
                &triples(F32, F32, F32),
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
            check(format!("{name}{flags}.f32"), &singles(F32), |row| {
                modified_if_raised(row, ftz, sat, lower_divisor, |r| {
                    hard((soft(0x3f80_0000) / soft(r[0])).value)
                })
            });
        }
        for name in ["sqrt.rn", "sqrt.approx"] {
            check(format!("{name}{flags}.f32"), &singles(F32), |row| {
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
        check(form, &pairs(F64, F64), |r| {
            // The second operand's NaN takes precedence, except in a division.
            let mut order = [r[0], r[1]];
            if !form.starts_with("div") {
                order.reverse();
            }
            or_nan(&order, hard(f(soft(r[0]), soft(r[1]))))
        });
    };
    two("add.f64", &|a, b| (a + b).value);
    two("sub.rn.f64", &|a, b| (a - b).value);
    two("mul.rn.f64", &|a, b| (a * b).value);
    two("div.rn.f64", &|a, b| (a / b).value);
    check("fma.rn.f64", &triples(F64, F64, F64), |r| {
        let result = soft(r[0]).mul_add(soft(r[1]), soft(r[2])).value;
        or_nan(&[r[1], r[2], r[0]], hard(result))
    });
    check("rcp.rn.f64", &singles(F64), |r| {
        or_nan(r, hard((soft(1f64.to_bits()) / soft(r[0])).value))
    });
    check("sqrt.rn.f64", &singles(F64), |r| {
        or_nan(r, double(r[0]).sqrt())
    });
}

#[test]
fn sign_operations_preserve_bits_except_for_nans() {
    let top = 1u64 << 31;
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(format!("abs{flags}.f32"), &singles(F32), |r| {
            modified(r, ftz, false, |r| r[0] & !top)
        });
        check(format!("neg{flags}.f32"), &singles(F32), |r| {
            modified(r, ftz, false, |r| r[0] ^ top)
        });
    }
    check("copysign.f32", &pairs(F32, F32), |r| {
        r[0] & top | r[1] & !top
    });
    let top = 1u64 << 63;
    let number_or_quiet = |operand: u64, result: u64| match double(operand).is_nan() {
        true => operand | 1 << 51,
        false => result,
    };
    check("abs.f64", &singles(F64), |r| {
        number_or_quiet(r[0], r[0] & !top)
    });
    check("neg.f64", &singles(F64), |r| {
        number_or_quiet(r[0], r[0] ^ top)
    });
    check("copysign.f64", &pairs(F64, F64), |r| {
        r[0] & top | r[1] & !top
    });
}

#[test]
fn testp_matches_bit_patterns() {
    for (ty, exponent, fraction) in [(F32, 0xff, 23), (F64, 0x7ff, 52)] {
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
            check(named(format!("testp.{kind}"), ty), &singles(ty), |r| {
                let bits = r[0] >> fraction & exponent;
                let none = r[0] & ((1 << fraction) - 1) == 0;
                u64::from(holds(bits == exponent, bits == 0, none))
            });
        }
    }
}

#[test]
fn approximate_division_loses_large_divisors() {
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(format!("div.approx{flags}.f32"), &pairs(F32, F32), |row| {
            modified_if_raised(row, ftz, false, raise_first, |r| {
                let size = r[1] & 0x7fff_ffff;
                let lost = (0x7e80_0001..0x7f80_0000).contains(&size);
                let infinite = r[0] & 0x7fff_ffff >= 0x7f80_0000;
                match (lost, infinite) {
                    (true, true) => NAN,
                    (true, false) => (r[0] ^ r[1]) & 0x8000_0000,
                    _ => hard((soft(r[0]) / soft(r[1])).value),
                }
            })
        });
    }
}

#[test]
fn reciprocal_roots_are_approximated() {
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(format!("rsqrt.approx{flags}.f32"), &singles(F32), |row| {
            modified(row, ftz, false, |r| {
                let a = f32::from_bits(r[0] as u32);
                u64::from((f64::from(a).sqrt().recip() as f32).to_bits())
            })
        });
    }
    check("rsqrt.approx.f64", &singles(F64), |r| {
        or_nan(r, double(r[0]).sqrt().recip())
    });
    // These forms read and write only the upper 32 bits, and flush subnormals.
    let upper = |x: u64| {
        let x = x & !0xffff_ffff;
        let is_subnormal = double(x).is_subnormal();
        x & if is_subnormal { 1 << 63 } else { u64::MAX }
    };
    let upper_or_nan = |x: f64| match x.is_nan() {
        true => 0x7fff_ffff_0000_0000,
        false => upper(x.to_bits()),
    };
    check("rcp.approx.ftz.f64", &singles(F64), |r| {
        upper_or_nan(double(upper(r[0])).recip())
    });
    check("rsqrt.approx.ftz.f64", &singles(F64), |r| {
        upper_or_nan(double(upper(r[0])).sqrt().recip())
    });
}

/// Maps a float to an integer with the same order, -0 before +0.
fn ordinal(bits: u64, width: u32) -> i128 {
    let size = i128::from(bits & !(1 << (width - 1)));
    if bits >> (width - 1) == 1 {
        -1 - size
    } else {
        size
    }
}

#[test]
fn min_and_max_follow_the_order_of_numbers() {
    let is_nan = |x: u64| f32::from_bits(x as u32).is_nan();
    let select = |min: bool, nan_wins: bool, a: u64, b: u64| -> u64 {
        match (is_nan(a), is_nan(b)) {
            (false, false) if (ordinal(a, 32) < ordinal(b, 32)) == min => a,
            (false, false) => b,
            (true, true) => NAN,
            _ if nan_wins => NAN,
            (true, _) => b,
            (_, true) => a,
        }
    };
    for (name, min) in [("min", true), ("max", false)] {
        for (ftz, nan, xor_sign) in (0..8).map(|n: u32| (n & 1 != 0, n & 2 != 0, n & 4 != 0)) {
            let mut text = name.to_owned();
            text += if ftz { ".ftz" } else { "" };
            text += if nan { ".NaN" } else { "" };
            text += if xor_sign { ".xorsign.abs" } else { "" };
            check(text + ".f32", &pairs(F32, F32), |r| {
                let [a, b] = [r[0], r[1]].map(|x| if ftz { flush(x) } else { x });
                if !xor_sign {
                    return select(min, nan, a, b);
                }
                let size = select(min, nan, a & 0x7fff_ffff, b & 0x7fff_ffff);
                let sign = (a ^ b) & 0x8000_0000;
                if is_nan(size) { NAN } else { size | sign }
            });
        }
        check(format!("{name}.f64"), &pairs(F64, F64), |r| {
            let [a, b] = [r[0], r[1]];
            match (double(a).is_nan(), double(b).is_nan()) {
                (true, true) => b | 1 << 51,
                (true, false) => b,
                (false, true) => a,
                _ if (ordinal(a, 64) < ordinal(b, 64)) == min => a,
                _ => b,
            }
        });
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Zero,
    Down,
    Up,
}

const DIRECTIONS: [(&str, Direction); 3] = [
    ("rz", Direction::Zero),
    ("rm", Direction::Down),
    ("rp", Direction::Up),
];

macro_rules! directed {
    ($name:ident, $t:ty) => {
        /// Starts at a number near the exact value, which `compare_with_exact` compares with, and searches
        /// for the last number on the rounding direction's side of it.
        fn $name(
            near: $t,
            direction: Direction,
            compare_with_exact: impl Fn($t) -> Ordering,
        ) -> $t {
            let down = match direction {
                Direction::Zero => compare_with_exact(0.0) == Ordering::Greater,
                Direction::Down => true,
                Direction::Up => false,
            };
            let mut candidate = near;
            if down {
                while compare_with_exact(candidate) == Ordering::Less {
                    candidate = candidate.next_down();
                }
                while candidate < <$t>::INFINITY
                    && compare_with_exact(candidate.next_up()) != Ordering::Less
                {
                    candidate = candidate.next_up();
                }
            } else {
                while compare_with_exact(candidate) == Ordering::Greater {
                    candidate = candidate.next_up();
                }
                while candidate > -<$t>::INFINITY
                    && compare_with_exact(candidate.next_down()) != Ordering::Greater
                {
                    candidate = candidate.next_down();
                }
            }
            candidate
        }
    };
}
directed!(directed_single, f32);
directed!(directed_double, f64);

/// Returns the rounded sum and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// Compares a sum and its error with a number.
fn compare_sum((sum, error): (f64, f64), x: f64) -> Ordering {
    match sum == x {
        true => 0.0.partial_cmp(&-error).unwrap_or(Ordering::Equal),
        false => sum.total_cmp(&x),
    }
}

/// Returns the rounded sum of two numbers whose exact sum is zero. It is negative if both are, or when rounding
/// down two different numbers.
fn zero_sum(a: f64, b: f64, direction: Direction) -> f64 {
    let cancelled = a != 0.0 || a.is_sign_negative() != b.is_sign_negative();
    match (cancelled, direction) {
        (true, Direction::Down) => -0.0,
        (true, _) => 0.0,
        (false, _) => a,
    }
}

fn sum_directed(a: f64, b: f64, direction: Direction) -> f32 {
    let exact = two_sum(a, b);
    if !exact.0.is_finite() {
        return exact.0 as f32;
    }
    if exact.0 == 0.0 {
        return zero_sum(a, b, direction) as f32;
    }
    directed_single(exact.0 as f32, direction, |x| compare_sum(exact, x.into()))
}

#[test]
fn single_precision_rounds_in_all_directions() {
    let f = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let bits = |x: f32| u64::from(x.to_bits());
    for (name, direction) in DIRECTIONS {
        for (flags, ftz, sat) in FLAGS {
            let rows = pairs(F32, F32);
            let two = |mnemonic: &str, raise: fn(&mut [u64]), exact: &dyn Fn(f64, f64) -> f32| {
                check(format!("{mnemonic}.{name}{flags}.f32"), &rows, |row| {
                    let bare = |r: &[u64]| bits(exact(f(r[0]), f(r[1])));
                    modified_if_raised(row, ftz, sat, raise, bare)
                });
            };
            let product = |a: f64, b: f64| {
                // The product is exact: it has 48 bits, and no product underflows a double.
                let exact = a * b;
                if !exact.is_finite() || exact == 0.0 {
                    return exact as f32;
                }
                directed_single(exact as f32, direction, |x| exact.total_cmp(&f64::from(x)))
            };
            two("add", |_| {}, &|a, b| sum_directed(a, b, direction));
            two("sub", |_| {}, &|a, b| sum_directed(a, -b, direction));
            two("mul", raise_first, &product);
            check(
                format!("fma.{name}{flags}.f32"),
                &triples(F32, F32, F32),
                |row| {
                    modified_if_raised(row, ftz, sat, raise_product_and_sum, |r| {
                        bits(sum_directed(f(r[0]) * f(r[1]), f(r[2]), direction))
                    })
                },
            );
            if sat {
                continue;
            }
            let quotient = |a: f64, b: f64| {
                let near = (a / b) as f32;
                if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
                    return near;
                }
                // Compares a / b with x by comparing a with x · b, reversed for negative b.
                directed_single(near, direction, |x| {
                    let order = a.total_cmp(&(f64::from(x) * b));
                    if b < 0.0 { order.reverse() } else { order }
                })
            };
            two("div", raise_first, &quotient);
            check(format!("rcp.{name}{flags}.f32"), &singles(F32), |row| {
                let bare = |r: &[u64]| bits(quotient(1.0, f(r[0])));
                modified_if_raised(row, ftz, sat, lower_divisor, bare)
            });
            check(format!("sqrt.{name}{flags}.f32"), &singles(F32), |row| {
                modified(row, ftz, sat, |r| {
                    let a = f(r[0]);
                    let near = a.sqrt() as f32;
                    if !(a > 0.0 && a.is_finite()) {
                        return bits(near);
                    }
                    bits(directed_single(near, direction, |x| {
                        a.total_cmp(&(f64::from(x) * f64::from(x)))
                    }))
                })
            });
        }
    }
}

#[test]
fn double_precision_rounds_in_all_directions() {
    // The range in which the error terms below are exact.
    let moderate = |x: &u64| {
        let size = double(*x).abs();
        !(0.0..=1e100).contains(&size) || size == 0.0 || size >= 1e-100
    };
    // An infinity is larger than 1e100, and no comparison with NaN holds.
    let finite = |r: &[u64]| r.iter().all(|x| double(*x).abs() <= 1e100);
    let not_large = |x: &u64| double(*x).abs() < 1e100 || !double(*x).is_finite();
    let mut rows = pairs(F64, F64);
    rows.retain(|row| row.iter().all(|x| moderate(x) && not_large(x)));
    for (name, direction) in DIRECTIONS {
        let sum = |row: &[u64], a: f64, b: f64| {
            let exact = two_sum(a, b);
            if !finite(row) {
                or_nan(&[row[1], row[0]], exact.0)
            } else if exact.0 == 0.0 {
                zero_sum(a, b, direction).to_bits()
            } else {
                directed_double(exact.0, direction, |x| compare_sum(exact, x)).to_bits()
            }
        };
        check(format!("add.{name}.f64"), &rows, |r| {
            sum(r, double(r[0]), double(r[1]))
        });
        check(format!("sub.{name}.f64"), &rows, |r| {
            sum(r, double(r[0]), -double(r[1]))
        });
        let product = |a: f64, b: f64, c: f64, r: &[u64]| {
            let near = a.mul_add(b, c);
            if !finite(r) || near == 0.0 {
                return or_nan(&[r[1], r[0]], near);
            }
            let exact = (a * b, a.mul_add(b, -(a * b)));
            directed_double(near, direction, |x| {
                // Compares (product + its error) + c with x by an expansion of the four.
                let (sum, error) = two_sum(exact.0, c - x * 0.0);
                let (rest, rest_error) = two_sum(error, exact.1);
                let (difference, lost) = two_sum(sum, -x);
                sign_of_sum([difference, lost, rest, rest_error])
            })
            .to_bits()
        };
        check(format!("mul.{name}.f64"), &rows, |r| {
            let (a, b) = (double(r[0]), double(r[1]));
            product(a, b, 0f64.copysign(a * b), r)
        });
        check(format!("div.{name}.f64"), &rows, |r| {
            let (a, b) = (double(r[0]), double(r[1]));
            let near = a / b;
            if !finite(r) || b == 0.0 || a == 0.0 {
                return or_nan(r, near);
            }
            directed_double(near, direction, |x| {
                let order = sign_of_sum([-x.mul_add(b, -a), 0.0, 0.0, 0.0]);
                if b < 0.0 { order.reverse() } else { order }
            })
            .to_bits()
        });
        let rows: Vec<_> = singles(F64);
        check(format!("sqrt.{name}.f64"), &rows, |r| {
            let a = double(r[0]);
            if !(a > 0.0 && a.is_finite()) {
                return or_nan(r, a.sqrt());
            }
            // Compares squares of integers: the mantissa with an even exponent, and root².
            let (mantissa, exponent) = decode(r[0]);
            let odd = exponent.rem_euclid(2);
            let (mantissa, exponent) = (mantissa << odd, exponent - odd);
            let compare_with_exact = |x: f64| {
                if x <= 0.0 {
                    return Ordering::Greater;
                }
                let (root, root_exponent) = decode(x.to_bits());
                let square = root * root;
                let shift = exponent - 2 * root_exponent;
                // `square` has at most 106 bits; scale `mantissa` to its exponent.
                if shift >= 0 {
                    (mantissa << shift.min(106)).cmp(&square)
                } else {
                    mantissa.cmp(&(square << (-shift).min(20)))
                }
            };
            directed_double(a.sqrt(), direction, compare_with_exact).to_bits()
        });
    }
}

/// Splits a positive double into an integer and a power of two.
fn decode(bits: u64) -> (u128, i32) {
    let (exponent, fraction) = ((bits >> 52) as i32, u128::from(bits & ((1 << 52) - 1)));
    match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    }
}

/// Returns the sign of the exact sum of four numbers, by summing until there are no rounding errors left.
fn sign_of_sum(mut terms: [f64; 4]) -> Ordering {
    for _ in 0..8 {
        for n in 0..3 {
            (terms[n + 1], terms[n]) = two_sum(terms[n + 1], terms[n]);
        }
    }
    terms[3].partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}
