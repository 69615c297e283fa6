//! Tests of integer arithmetic against 128-bit arithmetic, of logic, shifts and permutations against loops over
//! single bits, and of `mov`.

use super::harness::*;
use crate::exec::cpu::Cpu;
use crate::exec::ops::FormError;
use crate::exec::sm::test_support::random;
use crate::ptx::ast::Type::{self, *};

pub const TYPES: [Type; 6] = [U16, S16, U32, S32, U64, S64];

/// Returns the number that a register of type `ty` represents.
pub fn number(bits: u64, ty: Type) -> i128 {
    let modulus = 1i128 << (8 * ty.bytes());
    let value = i128::from(bits) % modulus;
    let is_negative = ty.is_signed() && value >= modulus / 2;
    value - if is_negative { modulus } else { 0 }
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
    check(named(form, ty), &pairs(ty, ty), |row| {
        register(f(number(row[0], ty), number(row[1], ty)), ty)
    });
}

fn ternary(form: &str, ty: Type, f: impl Fn(i128, i128, i128) -> i128) {
    check(named(form, ty), &triples(ty, ty, ty), |row| {
        let [a, b, c] = [row[0], row[1], row[2]].map(|x| number(x, ty));
        register(f(a, b, c), ty)
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
    for ty in [S16, S32, S64] {
        let unary = |form: &str, f: fn(i128) -> i128| {
            let reference = |row: &[u64]| register(f(number(row[0], ty)), ty);
            check(named(form, ty), &singles(ty), reference);
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
    binary("add.sat", S32, |a, b| clamp(a + b));
    binary("sub.sat", S32, |a, b| clamp(a - b));
    binary("min.relu", S32, |a, b| if a < b { a } else { b }.max(0));
    binary("max.relu", S32, |a, b| if a > b { a } else { b }.max(0));
    ternary("mad.hi.sat", S32, |a, b, c| {
        clamp((a * b).div_euclid(1 << 32) + c)
    });
}

#[test]
fn wide_products_match() {
    let wide = [(U16, U32), (S16, S32), (U32, U64), (S32, S64)];
    for (ty, twice) in wide {
        check(named("mul.wide", ty), &pairs(ty, ty), |row| {
            register(number(row[0], ty) * number(row[1], ty), twice)
        });
        check(named("mad.wide", ty), &triples(ty, ty, twice), |row| {
            let product = number(row[0], ty) * number(row[1], ty);
            register(product + number(row[2], twice), twice)
        });
    }
}

#[test]
fn products_of_24_bits_match() {
    for ty in [U32, S32] {
        let low24 = |x: i128| {
            let x = x.rem_euclid(1 << 24);
            let is_negative = ty == S32 && x >= 1 << 23;
            x - if is_negative { 1 << 24 } else { 0 }
        };
        let clamp = |x: i128| x.clamp(i32::MIN.into(), i32::MAX.into());
        // The high half in the instruction's type: 32 bits, of which the upper 16 are the sign extension.
        let high = |a, b| number(register((low24(a) * low24(b)) >> 16, ty), ty);
        binary("mul24.lo", ty, |a, b| low24(a) * low24(b));
        binary("mul24.hi", ty, |a, b| (low24(a) * low24(b)) >> 16);
        ternary("mad24.lo", ty, |a, b, c| low24(a) * low24(b) + c);
        ternary("mad24.hi", ty, |a, b, c| high(a, b) + c);
        if ty == S32 {
            ternary("mad24.hi.sat", ty, |a, b, c| clamp(high(a, b) + c));
        }
    }
}

#[test]
fn dot_products_match() {
    let signs = [U32, S32];
    for (a, b) in signs.into_iter().flat_map(|a| signs.map(|b| (a, b))) {
        let types = format!("{}.{}", a.modifier(), b.modifier());
        let narrow = |ty: Type, wide: bool| match (ty.is_signed(), wide) {
            (false, false) => U8,
            (true, false) => S8,
            (false, true) => U16,
            (true, true) => S16,
        };
        let sum = |row: &[u64], halves: bool, first: u32| {
            let (count, bits) = if halves { (2, 16) } else { (4, 8) };
            let total: i128 = (0..count)
                .map(|n| {
                    number(row[0] >> (bits * n), narrow(a, halves))
                        * number(row[1] >> (8 * (n + first)), narrow(b, false))
                })
                .sum();
            register(total + i128::from(row[2]), U32)
        };
        let rows = triples(U32, U32, U32);
        check(format!("dp4a.{types}"), &rows, |row| sum(row, false, 0));
        check(format!("dp2a.lo.{types}"), &rows, |row| sum(row, true, 0));
        check(format!("dp2a.hi.{types}"), &rows, |row| sum(row, true, 2));
    }
}

/// Returns the unsigned type of the same width, because carries are those of unsigned arithmetic.
fn unsigned(ty: Type) -> Type {
    if ty.bytes() == 8 { U64 } else { U32 }
}

#[test]
fn carries_match_wide_arithmetic() {
    for ty in [U32, S32, U64, S64] {
        let unsigned_type = unsigned(ty);
        let modulus = 1i128 << (8 * ty.bytes());
        let carried = |sum: i128| u64::from(!(0..modulus).contains(&sum));
        // Each row is a carry-in, a and b.
        let rows = triples(Pred, ty, ty);
        let rows: Vec<_> = rows
            .iter()
            .flat_map(|row| [0, 1].map(|c| vec![c, row[1], row[2]]))
            .collect();
        for (form, subtract, reads, writes) in [
            ("add.cc", false, false, true),
            ("addc.cc", false, true, true),
            ("addc", false, true, false),
            ("sub.cc", true, false, true),
            ("subc.cc", true, true, true),
            ("subc", true, true, false),
        ] {
            check_all(named(form, ty), &rows, |row| {
                let carry = i128::from(if reads { row[0] } else { subtract.into() });
                let (a, b) = (number(row[1], unsigned_type), number(row[2], unsigned_type));
                // The carry of a subtraction is set if there is no borrow.
                let sum = a + b + carry;
                let result = if subtract { a - b - (1 - carry) } else { sum };
                let set = carried(result) ^ u64::from(subtract);
                let out = if writes { set } else { row[0] };
                vec![register(result, unsigned_type), out]
            });
        }
        let rows: Vec<_> = triples(ty, ty, ty)
            .into_iter()
            .flat_map(|row| [0, 1].map(|c| vec![c, row[0], row[1], row[2]]))
            .collect();
        for (form, high, reads, writes) in [
            ("mad.lo.cc", false, false, true),
            ("mad.hi.cc", true, false, true),
            ("madc.lo.cc", false, true, true),
            ("madc.hi.cc", true, true, true),
            ("madc.lo", false, true, false),
            ("madc.hi", true, true, false),
        ] {
            check_all(named(form, ty), &rows, |row| {
                let carry = if reads { i128::from(row[0]) } else { 0 };
                let (a, b) = (number(row[1], ty), number(row[2], ty));
                let low = a.wrapping_mul(b);
                let half = if high { product_high(a, b, ty) } else { low };
                let half = number(register(half, unsigned_type), unsigned_type);
                let result = half + number(row[3], unsigned_type) + carry;
                let out = if writes { carried(result) } else { row[0] };
                vec![register(result, unsigned_type), out]
            });
        }
    }
}

/// Returns the high half of a product, computed from the halves of the first factor.
fn product_high(a: i128, b: i128, ty: Type) -> i128 {
    let half = 4 * ty.bytes();
    let low = a & ((1 << half) - 1);
    ((a >> half) * b + ((low * b) >> half)) >> half
}

const AMOUNTS: [u64; 12] = [0, 1, 5, 16, 31, 32, 33, 63, 64, 65, 255, 256 + 3];
const WORDS: [Type; 4] = [U32, S32, U64, S64];

#[test]
fn bit_counts_match_loops() {
    for ty in [B32, B64] {
        let width = 8 * ty.bytes();
        let unary = |form: &str, f: &dyn Fn(u64) -> u64| {
            check(named(form, ty), &singles(ty), |row| f(row[0]));
        };
        unary("popc", &|x| {
            (0..width).filter(|&n| bit(x, n)).count() as u64
        });
        unary("clz", &|x| {
            (0..width).rev().take_while(|&n| !bit(x, n)).count() as u64
        });
        unary("brev", &|x| bits(width, |n| bit(x, width - 1 - n)));
    }
}

#[test]
fn bit_searches_match_loops() {
    for ty in WORDS {
        let top = 8 * ty.bytes() - 1;
        let find = |x: u64| {
            let sign = ty.is_signed() && bit(x, top);
            (0..=top).rev().find(|&n| bit(x, n) != sign)
        };
        let none = u64::from(u32::MAX);
        check(named("bfind", ty), &singles(ty), |row| {
            find(row[0]).map_or(none, u64::from)
        });
        check(named("bfind.shiftamt", ty), &singles(ty), |row| {
            find(row[0]).map_or(none, |n| u64::from(top - n))
        });
    }
    let mut rows = Vec::new();
    for mask in random(6).chain([0, 1, 1 << 31, 0xffff_ffff, 0x8421]) {
        for base in [0, 1, 7, 30, 31, 32, 77] {
            for offset in [0i32, 1, 2, 5, 33, -1, -2, -9, i32::MAX, -i32::MAX] {
                rows.push(vec![mask & 0xffff_ffff, base, u64::from(offset as u32)]);
            }
        }
    }
    check("fns.b32", &rows, |row| {
        let (mask, base, offset) = (row[0], row[1] as i64, row[2] as u32 as i32);
        let none = u64::from(u32::MAX);
        if offset == 0 {
            let is_set = base < 32 && bit(mask, base as u32);
            return if is_set { base as u64 } else { none };
        }
        let mut count = i64::from(offset).abs() - 1;
        let mut position = base;
        while (0..32).contains(&position) {
            if bit(mask, position as u32) {
                if count == 0 {
                    return position as u64;
                }
                count -= 1;
            }
            position += i64::from(offset.signum());
        }
        none
    });
}

fn field_rows(ty: Type) -> Vec<Vec<u64>> {
    let mut rows = Vec::new();
    for value in edges(ty) {
        for from in AMOUNTS {
            rows.extend(AMOUNTS.map(|length| vec![value, from, length]));
        }
    }
    rows
}

#[test]
fn bfe_matches_loops() {
    for ty in WORDS {
        let top = 8 * ty.bytes() - 1;
        check(named("bfe", ty), &field_rows(ty), |row| {
            let (a, from, length) = (row[0], (row[1] & 255) as u32, (row[2] & 255) as u32);
            let signed = ty.is_signed() && length != 0;
            let sign = signed && bit(a, (from + length).saturating_sub(1).min(top));
            let inside = |n| n < length && from + n <= top;
            bits(top + 1, |n| if inside(n) { bit(a, from + n) } else { sign })
        });
    }
}

#[test]
fn bfi_matches_loops() {
    for ty in [B32, B64] {
        let top = 8 * ty.bytes() - 1;
        let rows: Vec<Vec<u64>> = field_rows(ty)
            .into_iter()
            .zip(random(100_000))
            .map(|(row, b)| vec![row[0], b & low_bits(top + 1), row[1], row[2]])
            .collect();
        check(named("bfi", ty), &rows, |row| {
            let (from, length) = ((row[2] & 255) as u32, (row[3] & 255) as u32);
            bits(top + 1, |n| match n.checked_sub(from) {
                Some(n) if n < length => bit(row[0], n),
                _ => bit(row[1], n),
            })
        });
    }
}

#[test]
fn bit_masks_match_loops() {
    let rows = pairs(U32, U32);
    for (form, wrap) in [("bmsk.clamp.b32", false), ("bmsk.wrap.b32", true)] {
        check(form, &rows, |row| {
            let amount = |x: u64| if wrap { x & 31 } else { x };
            let (from, length) = (amount(row[0]), amount(row[1]));
            bits(32, |n| (from..from + length).contains(&n.into()))
        });
    }
    for ty in [U32, S32] {
        for mode in ["clamp", "wrap"] {
            check(named(format!("szext.{mode}"), ty), &rows, |row| {
                let clamped = row[1].min(32);
                let length = if mode == "wrap" { row[1] & 31 } else { clamped };
                let sign = ty.is_signed() && length > 0 && bit(row[0], length as u32 - 1);
                let inside = |n| u64::from(n) < length;
                bits(32, |n| if inside(n) { bit(row[0], n) } else { sign })
            });
        }
    }
}

#[test]
fn bitwise_operations_match() {
    for ty in [Pred, B16, B32, B64] {
        let width = if ty == Pred { 1 } else { 8 * ty.bytes() };
        let two = |form: &str, f: fn(bool, bool) -> bool| {
            let reference = |r: &[u64]| bits(width, |n| f(bit(r[0], n), bit(r[1], n)));
            check(named(form, ty), &pairs(ty, ty), reference);
        };
        two("and", |a, b| a && b);
        two("or", |a, b| a || b);
        two("xor", |a, b| a != b);
        let not = |r: &[u64]| bits(width, |n| !bit(r[0], n));
        check(named("not", ty), &singles(ty), not);
        if ty != Pred {
            check(named("cnot", ty), &singles(ty), |r| u64::from(r[0] == 0));
        }
    }
}

#[test]
fn lop3_computes_any_function_of_three_bits() {
    let rows = triples(B32, B32, B32);
    for table in [0x00, 0x80, 0xfe, 0x96, 0xca, 0xe8, 0x1b, 0xff] {
        let written = TestForm {
            literal: table,
            ..TestForm::from("lop3.b32")
        };
        check(written, &rows, |row| {
            bits(32, |n| {
                let [a, b, c] = [row[0], row[1], row[2]].map(|x| x >> n & 1);
                table >> (a << 2 | b << 1 | c) & 1 == 1
            })
        });
    }
}

#[test]
fn shift_amounts_are_clamped() {
    let amounts = |ty| -> Vec<Vec<u64>> {
        let by = [
            0,
            1,
            15,
            16,
            17,
            31,
            32,
            33,
            63,
            64,
            65,
            1 << 20,
            low_bits(32),
        ];
        edges(ty)
            .into_iter()
            .flat_map(|a| by.map(|by| vec![a, by]))
            .collect()
    };
    for ty in [B16, B32, B64] {
        check(named("shl", ty), &amounts(ty), |row| {
            let shifted = || register(i128::from(row[0]) << row[1], ty);
            if row[1] > 64 { 0 } else { shifted() }
        });
    }
    let right = [B16, B32, B64, U16, U32, U64, S16, S32, S64];
    for ty in right {
        check(named("shr", ty), &amounts(ty), |row| {
            register(number(row[0], ty) >> row[1].min(100), ty)
        });
    }
}

#[test]
fn funnel_shifts_match() {
    let rows = triples(B32, B32, U32);
    for (form, left, wrap) in [
        ("shf.l.clamp.b32", true, false),
        ("shf.l.wrap.b32", true, true),
        ("shf.r.clamp.b32", false, false),
        ("shf.r.wrap.b32", false, true),
    ] {
        check(form, &rows, |row| {
            let by = if wrap { row[2] % 32 } else { row[2].min(32) };
            // Selects bits from the 64 bits of [b, a].
            let start = if left { 32 - by } else { by };
            let pair = row[1] << 32 | row[0];
            bits(32, |n| bit(pair >> start, n))
        });
    }
}

#[test]
fn permutations_match() {
    let words: Vec<u64> = random(9000).map(|x| x & low_bits(32)).collect();
    let rows: Vec<Vec<u64>> = (0..3000)
        .map(|n| vec![words[n], words[n + 3000], words[n + 6000]])
        .collect();
    let bytes = |row: &[u64], picks: [u64; 4]| -> u64 {
        let all = [row[0].to_le_bytes(), row[1].to_le_bytes()];
        (0..4)
            .map(|n| {
                let pick = picks[n] as usize;
                let byte = all[pick / 4 % 2][pick % 4];
                let sign = if byte > 127 { 0xff } else { 0 };
                u64::from(if pick & 8 != 0 { sign } else { byte }) << (8 * n)
            })
            .sum()
    };
    check("prmt.b32", &rows, |row| {
        bytes(row, [0, 1, 2, 3].map(|n| row[2] >> (4 * n) & 15))
    });
    // The PTX ISA's table of the special modes, indexed by the low two bits of c, least significant byte first.
    for (mode, table) in [
        (
            "f4e",
            [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        ),
        (
            "b4e",
            [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        ),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        (
            "ecl",
            [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        ),
        (
            "ecr",
            [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        ),
        (
            "rc16",
            [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
        ),
    ] {
        check(format!("prmt.b32.{mode}"), &rows, |row| {
            bytes(row, table[(row[2] & 3) as usize])
        });
    }
}

#[test]
fn copies_preserve_bits() {
    let types = [Pred, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
    for ty in types {
        check(named("mov", ty), &singles(ty), |row| row[0]);
    }
    assert_eq!(refusal("mov.b8"), FormError::Type("b8".into()));
}

#[test]
fn splits_and_joins_match() {
    for (ty, part, parts) in [(B32, B16, 2), (B64, B32, 2), (B64, B16, 4)] {
        let width = 8 * part.bytes();
        let split = |x: u64| -> Vec<u64> {
            let parts = 0..parts as u32;
            parts.map(|n| x >> (n * width) & low_bits(width)).collect()
        };
        let form = || TestForm::from(named("mov", ty));
        check_all(form().lengths(&[parts, 1]), &singles(ty), |row| {
            split(row[0])
        });
        let rows: Vec<Vec<u64>> = singles(ty).iter().map(|row| split(row[0])).collect();
        check(form().lengths(&[1, parts]), &rows, |row| {
            let parts = (0u32..).zip(row);
            parts.map(|(n, &part)| part << (n * width)).sum()
        });
    }
}

#[test]
fn unsupported_splits_are_rejected() {
    for (text, lengths) in [("mov.b64", [3, 1]), ("mov.u64", [2, 1])] {
        let parts = lengths[0].max(lengths[1]);
        let written = TestForm::from(text).lengths(&lengths);
        let error = op(&written, Cpu::Baseline).err();
        assert_eq!(error, Some(FormError::Vector(&text[4..], parts)));
    }
}
