//! Counting, finding and moving bits. Source: PTX ISA, section 9.7.1, `popc` to `szext`.

use super::form::{Form, FormError, Op};
use super::value::{for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map3, map4};
use crate::isa::Class;
use crate::ptx::ast::Type;

/// `popc`: how many bits are one.
pub fn popc(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [B32 B64], T => map1(cpu, |a: T| a.count_ones()));
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// `clz`: how many zeros are above the highest one.
pub fn clz(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [B32 B64], T => map1(cpu, |a: T| a.leading_zeros()));
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// `brev`: the bits in the opposite order.
pub fn brev(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = per_type!(map1, cpu, ty, [B32 B64], |a| a.reverse_bits());
    form.end()?;
    Ok(Op::new(Class::Integer, &[ty], &[ty], run))
}

/// `bfind`: where the highest one is, or the highest bit that differs from the sign; with
/// `.shiftamt` by how much to shift it to the top.
pub fn bfind(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let shift_amount = form.has("shiftamt");
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => if shift_amount {
        map1(cpu, |a: T| a.zeros_above())
    } else {
        map1(cpu, |a: T| {
            let zeros = a.zeros_above();
            if zeros == u32::MAX { u32::MAX } else { T::BITS - 1 - zeros }
        })
    });
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// `fns`: where the nth one is.
pub fn fns(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::B32])?;
    let run = map3(cpu, find_nth_set);
    form.end()?;
    let uses = [ty, Type::U32, Type::S32];
    Ok(Op::new(Class::Integer, &[ty], &uses, run))
}

/// `bfe`: a field of bits, extended.
pub fn bfe(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => {
        map3(cpu, |a: T, from: u32, length: u32| a.extract(from & 0xff, length & 0xff))
    });
    form.end()?;
    let uses = [ty, Type::U32, Type::U32];
    Ok(Op::new(Class::Integer, &[ty], &uses, run))
}

/// `bfi`: the low bits of a as a field of b.
pub fn bfi(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [B32 B64], T => {
        map4(cpu, |a: T, b: T, from: u32, length: u32| {
            let (from, length) = (from & 0xff, length & 0xff);
            let field = T::low_ones(length).shift_up(from);
            b & !field | a.shift_up(from) & field
        })
    });
    form.end()?;
    let uses = [ty, ty, Type::U32, Type::U32];
    Ok(Op::new(Class::Integer, &[ty], &uses, run))
}

/// `bmsk`: a field of ones.
pub fn bmsk(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let clamp = clamps(form)?;
    let ty = form.ty_among(&[Type::B32])?;
    let run = if clamp {
        map2(cpu, |from: u32, length: u32| {
            u32::low_ones(length).shift_up(from)
        })
    } else {
        map2(cpu, |from: u32, length: u32| {
            u32::low_ones(length & 31) << (from & 31)
        })
    };
    form.end()?;
    Ok(Op::new(Class::Integer, &[ty], &[Type::U32, Type::U32], run))
}

/// `szext`: the low bits of a, extended.
pub fn szext(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let clamp = clamps(form)?;
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32], T => if clamp {
        map2(cpu, |a: T, length: u32| a.extract(0, length))
    } else {
        map2(cpu, |a: T, length: u32| a.extract(0, length & 31))
    });
    form.end()?;
    Ok(Op::new(Class::Integer, &[ty], &[ty, Type::U32], run))
}

/// What becomes of amounts above 31: they are clamped (`.clamp`), or their low five bits count
/// (`.wrap`).
fn clamps(form: &Form) -> Result<bool, FormError> {
    Ok(form.required(&["clamp", "wrap"], ".clamp, .wrap")? == "clamp")
}

/// Where the nth set bit is, counted from `base` upwards (`n` > 0) or downwards (`n` < 0);
/// `base` itself for 0, if it is set. All ones if there is none; but 0 for the least of all `n`, whose
/// magnitude is no `n`, as on an H200.
#[inline(never)]
fn find_nth_set(mask: u32, base: u32, n: i32) -> u32 {
    if n == i32::MIN {
        return 0;
    }
    let set = |bit: &u32| mask >> bit & 1 == 1;
    let skip = n.unsigned_abs().saturating_sub(1) as usize;
    let found = match n.signum() {
        _ if base > 31 => None,
        0 => Some(base).filter(set),
        1 => (base..32).filter(set).nth(skip),
        _ => (0..=base).rev().filter(set).nth(skip),
    };
    found.unwrap_or(u32::MAX)
}

/// Bit fields of words; amounts past the word's width are clamped to it.
trait Word: Copy {
    /// Zeros above the highest one, or above the highest bit that differs from the sign; all ones
    /// where there is no such bit.
    fn zeros_above(self) -> u32;
    /// The field of `length` bits that starts at bit `from`, extended.
    fn extract(self, from: u32, length: u32) -> Self;
}

trait Unsigned: Copy {
    /// The lowest `length` bits set.
    fn low_ones(length: u32) -> Self;
    /// Shifted left; zero from the word's width on.
    fn shift_up(self, by: u32) -> Self;
}

macro_rules! words {
    ($($unsigned:ty, $signed:ty);+) => {$(
        impl Unsigned for $unsigned {
            #[inline(always)]
            fn low_ones(length: u32) -> $unsigned {
                !<$unsigned>::MAX.shift_up(length)
            }
            #[inline(always)]
            fn shift_up(self, by: u32) -> $unsigned {
                if by < Self::BITS { self << (by & (Self::BITS - 1)) } else { 0 }
            }
        }
        impl Word for $unsigned {
            #[inline(always)]
            fn zeros_above(self) -> u32 {
                if self == 0 { u32::MAX } else { self.leading_zeros() }
            }
            #[inline(always)]
            fn extract(self, from: u32, length: u32) -> $unsigned {
                let field =
                    if from < Self::BITS { self >> (from & (Self::BITS - 1)) } else { 0 };
                field & Self::low_ones(length)
            }
        }
        impl Word for $signed {
            #[inline(always)]
            fn zeros_above(self) -> u32 {
                (if self < 0 { !self } else { self } as $unsigned).zeros_above()
            }
            #[inline(always)]
            fn extract(self, from: u32, length: u32) -> $signed {
                let field = self >> from.min(Self::BITS - 1);
                let spare = Self::BITS - length.min(Self::BITS);
                let spare = spare.min(Self::BITS - 1);
                if length == 0 { 0 } else { field << spare >> spare }
            }
        }
    )+};
}
words!(u32, i32; u64, i64);
