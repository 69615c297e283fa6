//! Integer arithmetic. Source: PTX ISA, section 9.7.1 (bit fields are in `bits`).

use super::form::{Form, FormError, Op, no_such_type};
use super::value::{Row, Value, for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Lane, map3};
use crate::isa::Class;
use crate::ptx::ast::Type;

const HALVES: &str = ".hi, .lo, .wide";

/// The operation of an integer form.
pub fn select(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    match form.mnemonic {
        "mul" => mul(form, cpu),
        "mad" => mad(form, cpu),
        "mul24" | "mad24" => mul24(form, cpu),
        "dp4a" | "dp2a" => dot(form, cpu),
        _ => simple(form, cpu),
    }
}

/// Forms whose operands all have the one type they name.
fn simple(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let saturate = matches!(form.mnemonic, "add" | "sub") && form.has("sat");
    let relu = matches!(form.mnemonic, "min" | "max") && form.has("relu");
    let ty = form.ty()?;
    form.end()?;
    let run = match form.mnemonic {
        "add" if saturate => per_type!(map2, cpu, ty, [S32], |a, b| a.saturating_add(b)),
        "sub" if saturate => per_type!(map2, cpu, ty, [S32], |a, b| a.saturating_sub(b)),
        "add" => {
            per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.wrapping_add(b))
        }
        "sub" => {
            per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.wrapping_sub(b))
        }
        "div" => per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.quotient(b)),
        "rem" => per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.remainder(b)),
        "min" if relu => per_type!(map2, cpu, ty, [S32], |a, b| a.min(b).max(0)),
        "max" if relu => per_type!(map2, cpu, ty, [S32], |a, b| a.max(b).max(0)),
        "min" => per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.min(b)),
        "max" => per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.max(b)),
        "abs" => per_type!(map1, cpu, ty, [S16 S32 S64], |a| a.wrapping_abs()),
        "neg" => per_type!(map1, cpu, ty, [S16 S32 S64], |a| a.wrapping_neg()),
        // sad: c + |a - b|
        _ => per_type!(map3, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b, c| {
            c.wrapping_add(a.max(b).wrapping_sub(a.min(b)))
        }),
    };
    let sources = match form.mnemonic {
        "abs" | "neg" => 1,
        "sad" => 3,
        _ => 2,
    };
    Ok(Op::new(Class::Integer, &[ty], &vec![ty; sources], run))
}

fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let half = form.required(&["lo", "hi", "wide"], HALVES)?;
    let ty = form.ty()?;
    form.end()?;
    let (def, run) = match half {
        "lo" => (
            ty,
            per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.wrapping_mul(b)),
        ),
        "hi" => (
            ty,
            per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.high_half(b)),
        ),
        _ => (
            twice_as_wide(ty)?,
            per_type!(map2, cpu, ty, [U16 S16 U32 S32], |a, b| a.whole_product(b)),
        ),
    };
    Ok(Op::new(Class::Integer, &[def], &[ty, ty], run))
}

fn mad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let half = form.required(&["lo", "hi", "wide"], HALVES)?;
    let saturate = half == "hi" && form.has("sat");
    let ty = form.ty()?;
    form.end()?;
    let (wide, run) = match half {
        "lo" => (
            ty,
            per_type!(map3, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b, c| {
                a.wrapping_mul(b).wrapping_add(c)
            }),
        ),
        "hi" if saturate => (
            ty,
            per_type!(map3, cpu, ty, [S32], |a, b, c| a
                .high_half(b)
                .saturating_add(c)),
        ),
        "hi" => (
            ty,
            per_type!(map3, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b, c| {
                a.high_half(b).wrapping_add(c)
            }),
        ),
        _ => (
            twice_as_wide(ty)?,
            for_type!(ty, [U16 S16 U32 S32], T => {
                map3(cpu, |a: Row<T>, b: Row<T>, c: <T as Integer>::Wide| {
                    T::read(a).whole_product(T::read(b)).wrapping_add(c)
                })
            }),
        ),
    };
    Ok(Op::new(Class::Integer, &[wide], &[ty, ty, wide], run))
}

/// The type of a `.wide` product.
fn twice_as_wide(ty: Type) -> Result<Type, FormError> {
    Ok(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => return no_such_type(other),
    })
}

/// `mul24`, `mad24`: the 48-bit product of the low 24 bits; its low 32 bits or its high 32.
fn mul24(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let high = form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let add = form.mnemonic == "mad24";
    let saturate = add && high && form.has("sat");
    let ty = form.ty_among(&[Type::U32, Type::S32])?;
    form.end()?;
    let run = match (add, high) {
        (false, false) => per_type!(map2, cpu, ty, [U32 S32], |a, b| a.product24(b).0),
        (false, true) => per_type!(map2, cpu, ty, [U32 S32], |a, b| a.product24(b).1),
        (true, false) => per_type!(map3, cpu, ty, [U32 S32], |a, b, c| {
            a.product24(b).0.wrapping_add(c)
        }),
        (true, true) if saturate => per_type!(map3, cpu, ty, [S32], |a, b, c| {
            a.product24(b).1.saturating_add(c)
        }),
        (true, true) => per_type!(map3, cpu, ty, [U32 S32], |a, b, c| {
            a.product24(b).1.wrapping_add(c)
        }),
    };
    let sources = if add { 3 } else { 2 };
    Ok(Op::new(Class::Integer, &[ty], &vec![ty; sources], run))
}

/// `dp4a`, `dp2a`: dot products of bytes with bytes, and of two halves with two bytes, added to c.
fn dot(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let two = form.mnemonic == "dp2a";
    let high = two && form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let a = form.ty_among(&[Type::U32, Type::S32])?;
    let b = form.ty_among(&[Type::U32, Type::S32])?;
    form.end()?;
    /// Field `n` of `x`, `bits` wide, extended as type `S` or not.
    #[inline(always)]
    fn field<const SIGNED: bool>(x: u32, n: u32, bits: u32) -> i32 {
        let top = x << (32 - bits * (n + 1));
        if SIGNED {
            top as i32 >> (32 - bits)
        } else {
            (top >> (32 - bits)) as i32
        }
    }
    #[inline(always)]
    fn dot<const A: bool, const B: bool>(a: u32, b: u32, c: u32, fields: u32, first: u32) -> u32 {
        let bits = 32 / fields;
        (0..fields).fold(c, |sum, n| {
            let product = field::<A>(a, n, bits).wrapping_mul(field::<B>(b, n + first, 8));
            sum.wrapping_add(product as u32)
        })
    }
    macro_rules! signs {
        ($a:literal, $b:literal) => {
            match (two, high) {
                (false, _) => map3(cpu, |a: u32, b: u32, c: u32| dot::<$a, $b>(a, b, c, 4, 0)),
                (_, false) => map3(cpu, |a: u32, b: u32, c: u32| dot::<$a, $b>(a, b, c, 2, 0)),
                (_, true) => map3(cpu, |a: u32, b: u32, c: u32| dot::<$a, $b>(a, b, c, 2, 2)),
            }
        };
    }
    let run = match (a.is_signed(), b.is_signed()) {
        (false, false) => signs!(false, false),
        (false, true) => signs!(false, true),
        (true, false) => signs!(true, false),
        (true, true) => signs!(true, true),
    };
    let sum = if a.is_signed() || b.is_signed() {
        Type::S32
    } else {
        Type::U32
    };
    Ok(Op::new(Class::Integer, &[sum], &[a, b, sum], run))
}

/// What the tables above need beyond Rust's own integer methods.
trait Integer: Sized {
    type Wide: Lane;
    /// All bits of the product.
    fn whole_product(self, other: Self) -> Self::Wide;
}

macro_rules! wide {
    ($($t:ty: $wide:ty),+) => {$(
        impl Integer for $t {
            type Wide = $wide;
            #[inline(always)]
            fn whole_product(self, other: $t) -> $wide {
                (self as $wide).wrapping_mul(other as $wide)
            }
        }
    )+};
}
wide!(u16: u32, i16: i32, u32: u64, i32: i64);

trait High {
    /// The upper half of the product.
    fn high_half(self, other: Self) -> Self;
}

macro_rules! high {
    ($($t:ty: $wide:ty),+) => {$(
        impl High for $t {
            #[inline(always)]
            fn high_half(self, other: $t) -> $t {
                (self as $wide * other as $wide >> <$t>::BITS) as $t
            }
        }
    )+};
}
high!(u16: u32, i16: i32, u32: u64, i32: i64, u64: u128, i64: i128);

trait Product24: Sized {
    /// Bits 31..0 and 47..16 of the product of the low 24 bits.
    fn product24(self, other: Self) -> (Self, Self);
}

impl Product24 for u32 {
    #[inline(always)]
    fn product24(self, other: u32) -> (u32, u32) {
        let product = u64::from(self & 0xff_ffff) * u64::from(other & 0xff_ffff);
        (product as u32, (product >> 16) as u32)
    }
}

impl Product24 for i32 {
    #[inline(always)]
    fn product24(self, other: i32) -> (i32, i32) {
        let product = i64::from(self << 8 >> 8) * i64::from(other << 8 >> 8);
        (product as i32, (product >> 16) as i32)
    }
}

/// Division as the hardware answers it: by zero the quotient and the remainder are all ones, and
/// the smallest number divided by -1 is itself, remainder 0.
trait Divide {
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
}

/// 32 bits and less divide through doubles, which vectorise: a rounded quotient of two such
/// integers never reaches the next integer, as it is at least 2^-32 away and off by less than
/// 2^-53 of itself.
macro_rules! divide_through_f64 {
    ($($t:ty),+) => {$(
        impl Divide for $t {
            #[inline(always)]
            fn quotient(self, other: $t) -> $t {
                /// 1.5 * 2^52: added to an integer, leaves it in the low bits.
                const TO_LOW_BITS: f64 = 6755399441055744.0;
                let quotient = (f64::from(self) / f64::from(other)).trunc();
                let bits = (quotient + TO_LOW_BITS).to_bits() as $t;
                if other == 0 { !0 } else { bits }
            }
            #[inline(always)]
            fn remainder(self, other: $t) -> $t {
                let quotient = self.quotient(other);
                let rest = self.wrapping_sub(quotient.wrapping_mul(other));
                if other == 0 { !0 } else { rest }
            }
        }
    )+};
}
divide_through_f64!(u16, i16, u32, i32);

macro_rules! divide {
    ($($t:ty),+) => {$(
        impl Divide for $t {
            #[inline(always)]
            fn quotient(self, other: $t) -> $t {
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn remainder(self, other: $t) -> $t {
                if other == 0 { !0 } else { self.wrapping_rem(other) }
            }
        }
    )+};
}
divide!(u64, i64);
