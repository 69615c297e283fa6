//! Extended-precision integer arithmetic over the condition code's carry bit. Source: PTX ISA,
//! section 9.7.2.
//!
//! The carry holds carries of additions and borrows of subtractions alike. A form without `.cc`
//! reads the carry and leaves it as it was.

use super::form::{Form, FormError, Op};
use super::value::for_type;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Lane, carry, carry2};
use crate::exec::sm::Run;
use crate::isa::Class;

/// The operation of a form that reads or writes the carry.
pub fn select(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let sets = form.has("cc");
    let high = if form.mnemonic.starts_with("mad") {
        form.required(&["lo", "hi"], ".hi, .lo")? == "hi"
    } else {
        false
    };
    let ty = form.ty()?;
    form.end()?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => handler::<T>(cpu, form.mnemonic, sets, high));
    let sources = if form.mnemonic.starts_with("mad") {
        3
    } else {
        2
    };
    let mut op = Op::new(Class::Integer, &[ty], &vec![ty; sources], run);
    op.carries = true;
    Ok(op)
}

fn handler<T: Extended>(cpu: Cpu, mnemonic: &str, sets: bool, high: bool) -> Run {
    match (mnemonic, sets, high) {
        ("add", ..) => carry2(cpu, |a: T, b: T, _| a.add(b, false)),
        ("addc", true, _) => carry2(cpu, |a: T, b: T, carry| a.add(b, carry)),
        ("addc", false, _) => carry2(cpu, |a: T, b: T, carry| (a.add(b, carry).0, carry)),
        ("sub", ..) => carry2(cpu, |a: T, b: T, _| a.sub(b, false)),
        ("subc", true, _) => carry2(cpu, |a: T, b: T, borrow| a.sub(b, borrow)),
        ("subc", false, _) => carry2(cpu, |a: T, b: T, borrow| (a.sub(b, borrow).0, borrow)),
        ("mad", _, false) => carry(cpu, |a: T, b: T, c: T, _| a.low(b).add(c, false)),
        ("mad", _, true) => carry(cpu, |a: T, b: T, c: T, _| a.high(b).add(c, false)),
        (_, true, false) => carry(cpu, |a: T, b: T, c: T, carry| a.low(b).add(c, carry)),
        (_, true, true) => carry(cpu, |a: T, b: T, c: T, carry| a.high(b).add(c, carry)),
        (_, false, false) => carry(cpu, |a: T, b: T, c: T, carry| {
            (a.low(b).add(c, carry).0, carry)
        }),
        (_, false, true) => carry(cpu, |a: T, b: T, c: T, carry| {
            (a.high(b).add(c, carry).0, carry)
        }),
    }
}

/// Arithmetic that says what it carried out of the top, as for unsigned numbers.
trait Extended: Lane {
    fn add(self, other: Self, carry: bool) -> (Self, bool);
    fn sub(self, other: Self, borrow: bool) -> (Self, bool);
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
            fn sub(self, other: $t, borrow: bool) -> ($t, bool) {
                let (rest, first) = (self as $unsigned).overflowing_sub(other as $unsigned);
                let (rest, second) = rest.overflowing_sub(<$unsigned>::from(borrow));
                (rest as $t, first | second)
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
