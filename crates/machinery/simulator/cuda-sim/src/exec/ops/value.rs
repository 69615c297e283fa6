//! The representation of PTX types in register rows, and macros that create one handler per type.
//!
//! Rows hold 32 or 64 bits per lane. A 16-bit value is zero-extended in a 32-bit row: reading it takes the
//! low half, writing it clears the rest.

use crate::exec::lanewise::Lane;

/// A Rust type with the arithmetic of a PTX type.
pub trait Value: Copy {
    /// The type of a lane in its register row.
    type Row: Lane;
    fn read(row: Self::Row) -> Self;
    fn row(self) -> Self::Row;
}

pub type Row<T> = <T as Value>::Row;

macro_rules! full_row {
    ($($t:ty)+) => {$(
        impl Value for $t {
            type Row = $t;
            #[inline(always)]
            fn read(row: $t) -> $t {
                row
            }
            #[inline(always)]
            fn row(self) -> $t {
                self
            }
        }
    )+};
}
full_row!(u32 i32 f32 u64 i64 f64);

macro_rules! part_of_row {
    ($($t:ty: $bits:ty),+) => {$(
        impl Value for $t {
            type Row = u32;
            #[inline(always)]
            fn read(row: u32) -> $t {
                row as $t
            }
            #[inline(always)]
            fn row(self) -> u32 {
                u32::from(self as $bits)
            }
        }
    )+};
}
part_of_row!(u8: u8, i8: u8, u16: u16, i16: u16);

/// Expands to the Rust type with a PTX type's arithmetic.
macro_rules! native {
    (B16) => {
        u16
    };
    (B32) => {
        u32
    };
    (B64) => {
        u64
    };
    (U8) => {
        u8
    };
    (U16) => {
        u16
    };
    (U32) => {
        u32
    };
    (U64) => {
        u64
    };
    (S8) => {
        i8
    };
    (S16) => {
        i16
    };
    (S32) => {
        i32
    };
    (S64) => {
        i64
    };
    (F32) => {
        f32
    };
    (F64) => {
        f64
    };
}
pub(super) use native;

/// Expands `$body` with `$t` as the Rust type of `$ty`, which must be one of the listed PTX types; rejects
/// other types.
macro_rules! for_type {
    ($ty:expr, [$($name:ident)+], $t:ident => $body:expr) => {
        match $ty {
            $(crate::ptx::ast::Type::$name => {
                type $t = crate::exec::ops::value::native!($name);
                $body
            })+
            other => return crate::exec::ops::form::no_such_type(other),
        }
    };
}
pub(super) use for_type;

/// Returns the handlers for a type: `per_type!(map2, cpu, ty, [U32 S32], |a, b| a.wrapping_add(b))`. All
/// arguments and the result have that type.
macro_rules! per_type {
    ($map:ident, $cpu:expr, $ty:expr, [$($name:ident)+], |$($arg:ident),+| $body:expr) => {
        crate::exec::ops::value::for_type!($ty, [$($name)+], T => {
            crate::exec::lanewise::$map($cpu, |$($arg: crate::exec::ops::value::Row<T>),+| {
                $(let $arg = <T as crate::exec::ops::value::Value>::read($arg);)+
                crate::exec::ops::value::Value::row($body)
            })
        })
    };
}
pub(super) use per_type;
