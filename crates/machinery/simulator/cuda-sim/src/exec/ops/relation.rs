//! Comparison operators: their names in PTX and their encoding. Source: PTX ISA, section 9.7.6.

use super::form::{Form, FormError};
use crate::ptx::ast::Type;

// A comparison is the set of orderings for which it is true, one bit each.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;

pub const EQ: u8 = EQUAL;
pub const NE: u8 = LESS | GREATER;
pub const LT: u8 = LESS;
pub const LE: u8 = LESS | EQUAL;
pub const GT: u8 = GREATER;
pub const GE: u8 = GREATER | EQUAL;
pub const EQU: u8 = EQ | UNORDERED;
pub const NEU: u8 = NE | UNORDERED;
pub const LTU: u8 = LT | UNORDERED;
pub const LEU: u8 = LE | UNORDERED;
pub const GTU: u8 = GT | UNORDERED;
pub const GEU: u8 = GE | UNORDERED;
pub const NUM: u8 = LESS | EQUAL | GREATER;
const NAN: u8 = UNORDERED;

/// Comparison operators: for every type, for all except untyped bits, for unsigned integers, for floats.
const ANY: [(&str, u8); 2] = [("eq", EQ), ("ne", NE)];
const ORDERED: [(&str, u8); 4] = [("lt", LT), ("le", LE), ("gt", GT), ("ge", GE)];
const UNSIGNED: [(&str, u8); 4] = [("lo", LT), ("ls", LE), ("hi", GT), ("hs", GE)];
const FLOAT: [(&str, u8); 8] = [
    ("equ", EQU),
    ("neu", NEU),
    ("ltu", LTU),
    ("leu", LEU),
    ("gtu", GTU),
    ("geu", GEU),
    ("num", NUM),
    ("nan", NAN),
];

/// Takes the comparison of a form, which must be valid for its operands' type.
pub fn relation(form: &Form, ty: Type) -> Result<u8, FormError> {
    let bits = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    let unsigned = matches!(ty, Type::U16 | Type::U32 | Type::U64);
    let tables: [(&[(&str, u8)], bool); 4] = [
        (&ANY, true),
        (&ORDERED, !bits),
        (&UNSIGNED, unsigned),
        (&FLOAT, ty.is_float()),
    ];
    let entries = tables
        .iter()
        .filter(|(_, applies)| *applies)
        .flat_map(|(table, _)| *table);
    for (name, relation) in entries {
        if form.has(name) {
            return Ok(*relation);
        }
    }
    Err(FormError::Missing(if bits {
        ".eq, .ne"
    } else if ty.is_float() {
        ".eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan"
    } else {
        ".eq, .ne, .lt, .le, .gt, .ge, and for unsigned types .lo, .ls, .hi, .hs"
    }))
}

/// Takes `.and`, `.or` or `.xor`, encoded as in [`Relate::combine`].
pub fn combination(form: &Form) -> u8 {
    match form.one_of(&["and", "or", "xor"]) {
        Some("and") => 1,
        Some("or") => 2,
        Some(_) => 3,
        None => 0,
    }
}

/// Returns the bit of the ordering of two values.
#[inline(always)]
pub fn bit<T: PartialOrd>(a: T, b: T) -> u8 {
    // Branch-free, so that it vectorizes.
    let (less, equal, greater) = (a < b, a == b, a > b);
    let ordered =
        (u8::from(less) * LESS) | (u8::from(equal) * EQUAL) | (u8::from(greater) * GREATER);
    if less | equal | greater {
        ordered
    } else {
        UNORDERED
    }
}
