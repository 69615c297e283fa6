//! Tests of bit-field instructions against loops over single bits, as in the PTX ISA's pseudocode.

use super::harness::{check, pairs, singles};
use crate::exec::sm::test_support::random;
use crate::ptx::ast::Type;

const AMOUNTS: [u64; 12] = [0, 1, 5, 16, 31, 32, 33, 63, 64, 65, 255, 256 + 3];
const WORDS: [Type; 4] = [Type::U32, Type::S32, Type::U64, Type::S64];

fn bit(x: u64, n: u32) -> bool {
    x >> n & 1 == 1
}

#[test]
fn bit_counts_match_loops() {
    for ty in [Type::B32, Type::B64] {
        let width = 8 * ty.bytes();
        let unary = |form: &str, f: &dyn Fn(u64) -> u64| {
            check(format!("{form}.{}", ty.modifier()), &singles(ty), |row| {
                f(row[0])
            });
        };
        unary("popc", &|x| {
            (0..width).filter(|&n| bit(x, n)).count() as u64
        });
        unary("clz", &|x| {
            (0..width).rev().take_while(|&n| !bit(x, n)).count() as u64
        });
        unary("brev", &|x| {
            (0..width)
                .filter(|&n| bit(x, n))
                .map(|n| 1 << (width - 1 - n))
                .sum()
        });
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
        check(format!("bfind.{}", ty.modifier()), &singles(ty), |row| {
            find(row[0]).map_or(none, u64::from)
        });
        check(
            format!("bfind.shiftamt.{}", ty.modifier()),
            &singles(ty),
            |row| find(row[0]).map_or(none, |n| u64::from(top - n)),
        );
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
            return if base < 32 && bit(mask, base as u32) {
                base as u64
            } else {
                none
            };
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
    for value in super::harness::edges(ty) {
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
        check(format!("bfe.{}", ty.modifier()), &field_rows(ty), |row| {
            let (a, from, length) = (row[0], (row[1] & 255) as u32, (row[2] & 255) as u32);
            let signed = ty.is_signed() && length != 0;
            let sign = signed && bit(a, (from + length).saturating_sub(1).min(top));
            (0..=top)
                .filter(|&n| {
                    if n < length && from + n <= top {
                        bit(a, from + n)
                    } else {
                        sign
                    }
                })
                .map(|n| 1 << n)
                .sum()
        });
    }
}

#[test]
fn bfi_matches_loops() {
    for ty in [Type::B32, Type::B64] {
        let top = 8 * ty.bytes() - 1;
        let singles = u64::MAX >> (63 - top);
        let rows: Vec<Vec<u64>> = field_rows(ty)
            .into_iter()
            .zip(random(100_000))
            .map(|(row, b)| vec![row[0], b & singles, row[1], row[2]])
            .collect();
        check(format!("bfi.{}", ty.modifier()), &rows, |row| {
            let (from, length) = ((row[2] & 255) as u32, (row[3] & 255) as u32);
            (0..=top)
                .filter(|&n| {
                    let inside = n >= from && n - from < length;
                    if inside {
                        bit(row[0], n - from)
                    } else {
                        bit(row[1], n)
                    }
                })
                .map(|n| 1 << n)
                .sum()
        });
    }
}

#[test]
fn bit_masks_match_loops() {
    let rows = pairs(Type::U32, Type::U32);
    for (form, wrap) in [("bmsk.clamp.b32", false), ("bmsk.wrap.b32", true)] {
        check(form, &rows, |row| {
            let amount = |x: u64| if wrap { x & 31 } else { x };
            let (from, length) = (amount(row[0]), amount(row[1]));
            (0..32)
                .filter(|&n| n >= from && n - from < length)
                .map(|n| 1 << n)
                .sum()
        });
    }
    for ty in [Type::U32, Type::S32] {
        for mode in ["clamp", "wrap"] {
            check(format!("szext.{mode}.{}", ty.modifier()), &rows, |row| {
                let length = if mode == "wrap" {
                    row[1] & 31
                } else {
                    row[1].min(32)
                };
                let sign = ty.is_signed() && length > 0 && bit(row[0], length as u32 - 1);
                (0..32)
                    .filter(|&n| {
                        if u64::from(n) < length {
                            bit(row[0], n)
                        } else {
                            sign
                        }
                    })
                    .map(|n| 1 << n)
                    .sum()
            });
        }
    }
}
