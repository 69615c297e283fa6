//! Extended-precision integer arithmetic with the condition code's carry bit. Source: PTX ISA, section 9.7.2.
//!
//! There is a single carry bit. A subtraction is an addition, `a - b = a + !b + 1`, and sets the carry if
//! there is no borrow. An addition can therefore continue a subtraction, as on an H200 (the PTX ISA leaves
//! this open). A form without `.cc` reads the carry and does not change it.

use super::form::{Form, FormError, Op};
use super::value::for_type;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Lane, carry, carry2};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Selects `add.cc`.
pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (_, ty) = parse_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => carry2(cpu, |a: T, b: T, _| a.add(b, false)));
    Ok(op(ty, 2, run))
}

pub fn addc(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (sets, ty) = parse_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => if sets {
        carry2(cpu, |a: T, b: T, carry| a.add(b, carry))
    } else {
        carry2(cpu, |a: T, b: T, carry| (a.add(b, carry).0, carry))
    });
    Ok(op(ty, 2, run))
}

/// Selects `sub.cc`.
pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (_, ty) = parse_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => carry2(cpu, |a: T, b: T, _| a.sub(b, true)));
    Ok(op(ty, 2, run))
}

pub fn subc(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (sets, ty) = parse_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => if sets {
        carry2(cpu, |a: T, b: T, carry| a.sub(b, carry))
    } else {
        carry2(cpu, |a: T, b: T, carry| (a.sub(b, carry).0, carry))
    });
    Ok(op(ty, 2, run))
}

/// Selects `mad.cc`.
pub fn mad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (high, _, ty) = parse_product_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => if high {
        carry(cpu, |a: T, b: T, c: T, _| a.high(b).add(c, false))
    } else {
        carry(cpu, |a: T, b: T, c: T, _| a.low(b).add(c, false))
    });
    Ok(op(ty, 3, run))
}

pub fn madc(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (high, sets, ty) = parse_product_form(form)?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => match (sets, high) {
        (true, false) => carry(cpu, |a: T, b: T, c: T, carry| a.low(b).add(c, carry)),
        (true, true) => carry(cpu, |a: T, b: T, c: T, carry| a.high(b).add(c, carry)),
        (false, false) => carry(cpu, |a: T, b: T, c: T, carry| {
            (a.low(b).add(c, carry).0, carry)
        }),
        (false, true) => carry(cpu, |a: T, b: T, c: T, carry| {
            (a.high(b).add(c, carry).0, carry)
        }),
    });
    Ok(op(ty, 3, run))
}

/// Takes `.cc` and the type. Returns true in the first component if the form sets the carry.
fn parse_form(form: &Form) -> Result<(bool, Type), FormError> {
    let sets = form.has("cc");
    let ty = form.ty()?;
    form.end()?;
    Ok((sets, ty))
}

/// Takes `.hi` or `.lo` and the rest of the form. Returns true in the first component for the upper half of
/// products.
fn parse_product_form(form: &Form) -> Result<(bool, bool, Type), FormError> {
    let high = form.required(&["lo", "hi"], ".hi, .lo")? == "hi";
    let (sets, ty) = parse_form(form)?;
    Ok((high, sets, ty))
}

fn op(ty: Type, sources: usize, run: Handlers) -> Op {
    Op {
        carries: true,
        ..Op::of_one_type(Class::Integer, ty, sources, run)
    }
}

/// Arithmetic that returns the carry out of the top bit, as for unsigned numbers.
trait Extended: Lane {
    fn add(self, other: Self, carry: bool) -> (Self, bool);
    fn sub(self, other: Self, carry: bool) -> (Self, bool);
    fn low(self, other: Self) -> Self;
    fn high(self, other: Self) -> Self;
}

macro_rules! extended {
    ($($t:ty: $unsigned:ty, $wide:ty);+) => {$(
        impl Extended for $t {
            #[inline(always)]
            fn add(self, other: $t, carry: bool) -> ($t, bool) {
                let (sum, first) = (self as $unsigned).overflowing_add(other as $unsigned);
                let (sum, second) = sum.overflowing_add(<$unsigned>::from(carry));
                (sum as $t, first | second)
            }
            #[inline(always)]
            fn sub(self, other: $t, carry: bool) -> ($t, bool) {
                Extended::add(self, !other, carry)
            }
            #[inline(always)]
            fn low(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn high(self, other: $t) -> $t {
                (self as $wide * other as $wide >> <$t>::BITS) as $t
            }
        }
    )+};
}
extended!(u32: u32, u64; i32: u32, i64; u64: u64, u128; i64: u64, i128);
