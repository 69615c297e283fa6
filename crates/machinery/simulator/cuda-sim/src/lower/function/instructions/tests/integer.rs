//! Tests of integer arithmetic against 128-bit arithmetic.

use super::harness::{check, pairs, singles, triples};
use crate::ptx::ast::Type;

pub const TYPES: [Type; 6] = [
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];

/// Returns the number that a register of type `ty` represents.
pub fn number(bits: u64, ty: Type) -> i128 {
    let modulus = 1i128 << (8 * ty.bytes());
    let value = i128::from(bits) % modulus;
    if ty.is_signed() && value >= modulus / 2 {
        value - modulus
    } else {
        value
    }
}

/// Returns the register of type `ty` that represents a number modulo its range.
pub fn register(value: i128, ty: Type) -> u64 {
    value.rem_euclid(1 << (8 * ty.bytes())) as u64
}

/// Returns the minimum and maximum of a type.
pub fn range(ty: Type) -> (i128, i128) {
    let bits = 8 * ty.bytes();
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn binary(form: &str, ty: Type, f: impl Fn(i128, i128) -> i128) {
    let text = format!("{form}.{}", ty.modifier());
    check(text, &pairs(ty, ty), |row| {
        register(f(number(row[0], ty), number(row[1], ty)), ty)
    });
}

fn ternary(form: &str, ty: Type, f: impl Fn(i128, i128, i128) -> i128) {
    let text = format!("{form}.{}", ty.modifier());
    check(text, &triples(ty, ty, ty), |row| {
        register(
            f(number(row[0], ty), number(row[1], ty), number(row[2], ty)),
            ty,
        )
    });
}

/// Returns the high half of a product by long multiplication, because an unsigned product may need 128 bits.
fn high(a: i128, b: i128, ty: Type) -> i128 {
    let bits = 8 * ty.bytes();
    let half = bits / 2;
    let (a_high, a_low) = (a >> half, a & ((1 << half) - 1));
    let carried = a_low * b;
    (a_high * b + (carried >> half)) >> (bits - half)
}

#[test]
fn integer_arithmetic_matches() {
    for ty in TYPES {
        binary("add", ty, |a, b| a + b);
        binary("sub", ty, |a, b| a - b);
        binary("mul.lo", ty, |a, b| a.wrapping_mul(b));
        binary("mul.hi", ty, |a, b| high(a, b, ty));
        binary("min", ty, |a, b| if b < a { b } else { a });
        binary("max", ty, |a, b| if b > a { b } else { a });
        ternary("mad.lo", ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
        ternary("mad.hi", ty, |a, b, c| high(a, b, ty) + c);
        ternary("sad", ty, |a, b, c| c + (a - b).abs());
    }
    for ty in [Type::S16, Type::S32, Type::S64] {
        let unary = |form: &str, f: fn(i128) -> i128| {
            let text = format!("{form}.{}", ty.modifier());
            check(text, &singles(ty), |row| {
                register(f(number(row[0], ty)), ty)
            });
        };
        unary("abs", i128::abs);
        unary("neg", |a| -a);
    }
}

#[test]
fn division_by_zero_is_all_ones_and_overflow_wraps() {
    for ty in TYPES {
        binary("div", ty, |a, b| if b == 0 { -1 } else { a / b });
        binary("rem", ty, |a, b| if b == 0 { -1 } else { a - a / b * b });
    }
}

#[test]
fn saturation_matches() {
    let clamp = |x: i128| x.clamp(i32::MIN.into(), i32::MAX.into());
    binary("add.sat", Type::S32, |a, b| clamp(a + b));
    binary("sub.sat", Type::S32, |a, b| clamp(a - b));
    binary("min.relu", Type::S32, |a, b| {
        if a < b { a } else { b }.max(0)
    });
    binary("max.relu", Type::S32, |a, b| {
        if a > b { a } else { b }.max(0)
    });
    ternary("mad.hi.sat", Type::S32, |a, b, c| {
        clamp((a * b).div_euclid(1 << 32) + c)
    });
}

#[test]
fn wide_products_match() {
    let wide = [
        (Type::U16, Type::U32),
        (Type::S16, Type::S32),
        (Type::U32, Type::U64),
        (Type::S32, Type::S64),
    ];
    for (ty, twice) in wide {
        check(
            format!("mul.wide.{}", ty.modifier()),
            &pairs(ty, ty),
            |row| register(number(row[0], ty) * number(row[1], ty), twice),
        );
        check(
            format!("mad.wide.{}", ty.modifier()),
            &triples(ty, ty, twice),
            |row| {
                register(
                    number(row[0], ty) * number(row[1], ty) + number(row[2], twice),
                    twice,
                )
            },
        );
    }
}

#[test]
fn products_of_24_bits_match() {
    for ty in [Type::U32, Type::S32] {
        let low24 = |x: i128| {
            let x = x.rem_euclid(1 << 24);
            if ty == Type::S32 && x >= 1 << 23 {
                x - (1 << 24)
            } else {
                x
            }
        };
        let clamp = |x: i128| x.clamp(i32::MIN.into(), i32::MAX.into());
        // The high half in the instruction's type: 32 bits, of which the upper 16 are the sign extension.
        let high = |a, b| number(register((low24(a) * low24(b)) >> 16, ty), ty);
        binary("mul24.lo", ty, |a, b| low24(a) * low24(b));
        binary("mul24.hi", ty, |a, b| (low24(a) * low24(b)) >> 16);
        ternary("mad24.lo", ty, |a, b, c| low24(a) * low24(b) + c);
        ternary("mad24.hi", ty, |a, b, c| high(a, b) + c);
        if ty == Type::S32 {
            ternary("mad24.hi.sat", ty, |a, b, c| clamp(high(a, b) + c));
        }
    }
}

#[test]
fn dot_products_match() {
    let signs = [Type::U32, Type::S32];
    for (a, b) in signs.into_iter().flat_map(|a| signs.map(|b| (a, b))) {
        let types = format!("{}.{}", a.modifier(), b.modifier());
        let narrow = |ty: Type, wide: bool| match (ty.is_signed(), wide) {
            (false, false) => Type::U8,
            (true, false) => Type::S8,
            (false, true) => Type::U16,
            (true, true) => Type::S16,
        };
        let sum = |row: &[u64], halves: bool, first: u32| {
            let (count, bits) = if halves { (2, 16) } else { (4, 8) };
            let total: i128 = (0..count)
                .map(|n| {
                    number(row[0] >> (bits * n), narrow(a, halves))
                        * number(row[1] >> (8 * (n + first)), narrow(b, false))
                })
                .sum();
            register(total + i128::from(row[2]), Type::U32)
        };
        let rows = triples(Type::U32, Type::U32, Type::U32);
        check(format!("dp4a.{types}"), &rows, |row| sum(row, false, 0));
        check(format!("dp2a.lo.{types}"), &rows, |row| sum(row, true, 0));
        check(format!("dp2a.hi.{types}"), &rows, |row| sum(row, true, 2));
    }
}
