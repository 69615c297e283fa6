//! Integer arithmetic. Source: PTX ISA, section 9.7.1 (bit fields are in `bits`).

use super::form::{Form, FormError, Op, no_such_type};
use super::value::{Row, Value, for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Lane, map3};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

const HALVES: &str = ".hi, .lo, .wide";

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (saturate, ty) = parse_form(form, "sat")?;
    let run = if saturate {
        per_type!(map2, cpu, ty, [S32], |a, b| a.saturating_add(b))
    } else {
        per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.wrapping_add(b))
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (saturate, ty) = parse_form(form, "sat")?;
    let run = if saturate {
        per_type!(map2, cpu, ty, [S32], |a, b| a.saturating_sub(b))
    } else {
        per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.wrapping_sub(b))
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (relu, ty) = parse_form(form, "relu")?;
    let run = if relu {
        per_type!(map2, cpu, ty, [S32], |a, b| a.min(b).max(0))
    } else {
        per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.min(b))
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (relu, ty) = parse_form(form, "relu")?;
    let run = if relu {
        per_type!(map2, cpu, ty, [S32], |a, b| a.max(b).max(0))
    } else {
        per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.max(b))
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Takes the form's optional `modifier` and its type. Returns true in the first component if it is present.
fn parse_form(form: &Form, modifier: &str) -> Result<(bool, Type), FormError> {
    let is_present = form.has(modifier);
    let ty = form.ty()?;
    form.end()?;
    Ok((is_present, ty))
}

pub fn div(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.quotient(b));
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn rem(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = per_type!(map2, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b| a.remainder(b));
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = per_type!(map1, cpu, ty, [S16 S32 S64], |a| a.wrapping_abs());
    Ok(Op::of_one_type(Class::Integer, ty, 1, run))
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = per_type!(map1, cpu, ty, [S16 S32 S64], |a| a.wrapping_neg());
    Ok(Op::of_one_type(Class::Integer, ty, 1, run))
}

/// Selects `sad`: c + |a - b|.
pub fn sad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = per_type!(map3, cpu, ty, [U16 S16 U32 S32 U64 S64], |a, b, c| {
        c.wrapping_add(a.max(b).wrapping_sub(a.min(b)))
    });
    Ok(Op::of_one_type(Class::Integer, ty, 3, run))
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
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
            double_width(ty)?,
            per_type!(map2, cpu, ty, [U16 S16 U32 S32], |a, b| a.full_product(b)),
        ),
    };
    Ok(Op::new(Class::Integer, &[def], &[ty, ty], run))
}

pub fn mad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
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
            double_width(ty)?,
            for_type!(ty, [U16 S16 U32 S32], T => {
                map3(cpu, |a: Row<T>, b: Row<T>, c: <T as Integer>::Wide| {
                    T::read(a).full_product(T::read(b)).wrapping_add(c)
                })
            }),
        ),
    };
    Ok(Op::new(Class::Integer, &[wide], &[ty, ty, wide], run))
}

/// Returns the type of a `.wide` product.
fn double_width(ty: Type) -> Result<Type, FormError> {
    Ok(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => return no_such_type(other),
    })
}

/// Selects `mul24`: the low or high 32 bits of the 48-bit product of the low 24 bits.
pub fn mul24(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let high = form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let ty = form.ty_among(&[Type::U32, Type::S32])?;
    form.end()?;
    let run = if high {
        per_type!(map2, cpu, ty, [U32 S32], |a, b| a.product24(b).1)
    } else {
        per_type!(map2, cpu, ty, [U32 S32], |a, b| a.product24(b).0)
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Selects `mad24`: c plus the product of `mul24`.
pub fn mad24(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let high = form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let saturate = high && form.has("sat");
    let ty = form.ty_among(&[Type::U32, Type::S32])?;
    form.end()?;
    let run = match (high, saturate) {
        (false, _) => per_type!(map3, cpu, ty, [U32 S32], |a, b, c| {
            a.product24(b).0.wrapping_add(c)
        }),
        (true, true) => per_type!(map3, cpu, ty, [S32], |a, b, c| {
            a.product24(b).1.saturating_add(c)
        }),
        (true, false) => per_type!(map3, cpu, ty, [U32 S32], |a, b, c| {
            a.product24(b).1.wrapping_add(c)
        }),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 3, run))
}

/// Returns the handlers for each combination of signs of a and b: `$fields` fields of a, each multiplied by a
/// byte of b, starting at byte `$first`, and added to c.
macro_rules! dot {
    ($cpu:expr, $types:expr, $fields:literal, $first:literal) => {
        match $types.map(Type::is_signed) {
            [false, false] => dot!($cpu, $fields, $first, false, false),
            [false, true] => dot!($cpu, $fields, $first, false, true),
            [true, false] => dot!($cpu, $fields, $first, true, false),
            [true, true] => dot!($cpu, $fields, $first, true, true),
        }
    };
    ($cpu:expr, $fields:literal, $first:literal, $a:literal, $b:literal) => {
        map3($cpu, |a: u32, b: u32, c: u32| {
            sum_of_products::<$a, $b>(a, b, c, $fields, $first)
        })
    };
}

/// Selects `dp4a`: four bytes times four bytes.
pub fn dp4a(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let types = factors(form)?;
    Ok(sum(types, dot!(cpu, types, 4, 0)))
}

/// Selects `dp2a`: two halves times two bytes, the lower two or the upper two.
pub fn dp2a(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let high = form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let types = factors(form)?;
    let run = if high {
        dot!(cpu, types, 2, 2)
    } else {
        dot!(cpu, types, 2, 0)
    };
    Ok(sum(types, run))
}

/// Takes the types of the factors.
fn factors(form: &Form) -> Result<[Type; 2], FormError> {
    let a = form.ty_among(&[Type::U32, Type::S32])?;
    let b = form.ty_among(&[Type::U32, Type::S32])?;
    form.end()?;
    Ok([a, b])
}

/// Returns a dot product's operation. The sum is signed if one of the factors is.
fn sum([a, b]: [Type; 2], run: Handlers) -> Op {
    let sum = if a.is_signed() || b.is_signed() {
        Type::S32
    } else {
        Type::U32
    };
    Op::new(Class::Integer, &[sum], &[a, b, sum], run)
}

#[inline(always)]
fn sum_of_products<const A: bool, const B: bool>(
    a: u32,
    b: u32,
    c: u32,
    fields: u32,
    first: u32,
) -> u32 {
    let bits = 32 / fields;
    (0..fields).fold(c, |sum, n| {
        let product = field::<A>(a, n, bits).wrapping_mul(field::<B>(b, n + first, 8));
        sum.wrapping_add(product as u32)
    })
}

/// Returns field `n` of `x`, `bits` wide, sign- or zero-extended.
#[inline(always)]
fn field<const SIGNED: bool>(x: u32, n: u32, bits: u32) -> i32 {
    let top = x << (32 - bits * (n + 1));
    if SIGNED {
        top as i32 >> (32 - bits)
    } else {
        (top >> (32 - bits)) as i32
    }
}

/// Products with all their bits.
trait Integer: Sized {
    type Wide: Lane;
    /// Returns the full product.
    fn full_product(self, other: Self) -> Self::Wide;
}

macro_rules! wide {
    ($($t:ty: $wide:ty),+) => {$(
        impl Integer for $t {
            type Wide = $wide;
            #[inline(always)]
            fn full_product(self, other: $t) -> $wide {
                (self as $wide).wrapping_mul(other as $wide)
            }
        }
    )+};
}
wide!(u16: u32, i16: i32, u32: u64, i32: i64);

trait HighHalf {
    /// Returns the upper half of the product.
    fn high_half(self, other: Self) -> Self;
}

macro_rules! high {
    ($($t:ty: $wide:ty),+) => {$(
        impl HighHalf for $t {
            #[inline(always)]
            fn high_half(self, other: $t) -> $t {
                (self as $wide * other as $wide >> <$t>::BITS) as $t
            }
        }
    )+};
}
high!(u16: u32, i16: i32, u32: u64, i32: i64, u64: u128, i64: i128);

trait Product24: Sized {
    /// Returns bits 31..0 and 47..16 of the product of the low 24 bits.
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

/// Division with the hardware's results: division by zero gives all ones for quotient and remainder, and the
/// smallest number divided by -1 gives itself, remainder 0.
trait Divide {
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
}

/// Divides integers of up to 32 bits as doubles, which vectorizes. The rounded quotient of two such integers
/// never reaches the next integer, because it is at least 2^-32 away and the relative error is below 2^-53.
macro_rules! divide_through_f64 {
    ($($t:ty),+) => {$(
        impl Divide for $t {
            #[inline(always)]
            fn quotient(self, other: $t) -> $t {
                /// 1.5 * 2^52, which moves an integer into the low bits when added.
                const TO_LOW_BITS: f64 = 6755399441055744.0;
                let quotient = (f64::from(self) / f64::from(other)).trunc();
                let bits = (quotient + TO_LOW_BITS).to_bits() as $t;
                if other == 0 { !0 } else { bits }
            }
            #[inline(always)]
            fn remainder(self, other: $t) -> $t {
                let quotient = self.quotient(other);
                let remainder = self.wrapping_sub(quotient.wrapping_mul(other));
                if other == 0 { !0 } else { remainder }
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
