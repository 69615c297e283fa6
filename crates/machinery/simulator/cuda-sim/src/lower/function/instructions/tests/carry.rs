//! Tests of carries and borrows against wider arithmetic.

use super::harness::{check_all, triples};
use super::integer::{number, register};
use crate::ptx::ast::Type;

/// Returns the unsigned type of the same width, because carries are those of unsigned arithmetic.
fn unsigned(ty: Type) -> Type {
    if ty.bytes() == 8 {
        Type::U64
    } else {
        Type::U32
    }
}

#[test]
fn carries_match_wide_arithmetic() {
    for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
        let unsigned_type = unsigned(ty);
        let modulus = 1i128 << (8 * ty.bytes());
        let carried = |sum: i128| u64::from(!(0..modulus).contains(&sum));
        // Each row is a carry-in, a and b.
        let rows = triples(Type::Pred, ty, ty);
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
            check_all(format!("{form}.{}", ty.modifier()), &rows, |row| {
                let carry = if reads {
                    i128::from(row[0])
                } else {
                    i128::from(subtract)
                };
                let (a, b) = (number(row[1], unsigned_type), number(row[2], unsigned_type));
                // The carry of a subtraction is set if there is no borrow.
                let result = if subtract {
                    a - b - (1 - carry)
                } else {
                    a + b + carry
                };
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
            check_all(format!("{form}.{}", ty.modifier()), &rows, |row| {
                let carry = if reads { i128::from(row[0]) } else { 0 };
                let (a, b) = (number(row[1], ty), number(row[2], ty));
                let half = if high {
                    product_high(a, b, ty)
                } else {
                    a.wrapping_mul(b)
                };
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
