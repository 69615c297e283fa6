//! Tests of floating-point arithmetic with directed rounding, against the exact value as determined by
//! error-free transformations in double precision.

use super::float::{
    FLAGS, double, lower_divisor, modified, modified_if_raised, or_nan, raise_first,
    raise_product_and_sum,
};
use super::harness::{check, pairs, singles, triples};
use crate::ptx::ast::Type;
use std::cmp::Ordering;

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
    let by_sum = sum.total_cmp(&x);
    if sum == x {
        0.0.partial_cmp(&-error).unwrap_or(Ordering::Equal)
    } else {
        by_sum
    }
}

fn sum_directed(a: f64, b: f64, direction: Direction) -> f32 {
    let exact = two_sum(a, b);
    if !exact.0.is_finite() {
        return exact.0 as f32;
    }
    if exact.0 == 0.0 {
        // An exact zero from two different numbers is negative only when rounding down.
        let cancelled = a != 0.0 || a.is_sign_negative() != b.is_sign_negative();
        return if cancelled {
            if direction == Direction::Down {
                -0.0
            } else {
                0.0
            }
        } else {
            a as f32
        };
    }
    directed_single(exact.0 as f32, direction, |x| compare_sum(exact, x.into()))
}

#[test]
fn single_precision_rounds_in_all_directions() {
    let f = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let bits = |x: f32| u64::from(x.to_bits());
    for (name, direction) in DIRECTIONS {
        for (flags, ftz, sat) in FLAGS {
            let rows = pairs(Type::F32, Type::F32);
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
                &triples(Type::F32, Type::F32, Type::F32),
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
            check(
                format!("rcp.{name}{flags}.f32"),
                &singles(Type::F32),
                |row| {
                    let bare = |r: &[u64]| bits(quotient(1.0, f(r[0])));
                    modified_if_raised(row, ftz, sat, lower_divisor, bare)
                },
            );
            check(
                format!("sqrt.{name}{flags}.f32"),
                &singles(Type::F32),
                |row| {
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
                },
            );
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
    let finite = |r: &[u64]| {
        r.iter()
            .all(|x| double(*x).is_finite() && double(*x).abs() <= 1e100)
    };
    let rows: Vec<Vec<u64>> = pairs(Type::F64, Type::F64)
        .into_iter()
        .filter(|row| {
            row.iter().all(moderate)
                && row
                    .iter()
                    .all(|x| double(*x).abs() < 1e100 || !double(*x).is_finite())
        })
        .collect();
    for (name, direction) in DIRECTIONS {
        let sum = |row: &[u64], a: f64, b: f64| {
            let exact = two_sum(a, b);
            if !finite(row) {
                or_nan(&[row[1], row[0]], exact.0)
            } else if exact.0 == 0.0 {
                let cancelled = a != 0.0 || a.is_sign_negative() != b.is_sign_negative();
                if !cancelled {
                    a.to_bits()
                } else if direction == Direction::Down {
                    (-0.0f64).to_bits()
                } else {
                    0
                }
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
                let total = [difference, lost, rest, rest_error];
                sign_of_sum(total)
            })
            .to_bits()
        };
        check(format!("mul.{name}.f64"), &rows, |r| {
            let (a, b) = (double(r[0]), double(r[1]));
            let zero = if (a * b).is_sign_negative() {
                -0.0
            } else {
                0.0
            };
            product(a, b, zero, r)
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
        let rows: Vec<_> = singles(Type::F64);
        check(format!("sqrt.{name}.f64"), &rows, |r| {
            let a = double(r[0]);
            if !(a > 0.0 && a.is_finite()) {
                return or_nan(r, a.sqrt());
            }
            // Compares squares of integers: the mantissa with an even exponent, and root².
            let got = u128::from(r[0]);
            let (mantissa, exponent) = decode(got as u64);
            let (mantissa, exponent) = if exponent % 2 == 0 {
                (mantissa, exponent)
            } else {
                (mantissa << 1, exponent - 1)
            };
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
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
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
