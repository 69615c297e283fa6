//! Bit counting, searching and fields. Source: PTX ISA, section 9.7.1, `popc` to `szext`.

use super::form::{Form, FormError, Op};
use super::value::{for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map3, map4};
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Selects `popc`: the number of one bits.
pub fn popc(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [B32 B64], T => map1(cpu, |a: T| a.count_ones()));
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// Selects `clz`: the number of leading zeros.
pub fn clz(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [B32 B64], T => map1(cpu, |a: T| a.leading_zeros()));
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// Selects `brev`: the bits in reverse order.
pub fn brev(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = per_type!(map1, cpu, ty, [B32 B64], |a| a.reverse_bits());
    form.end()?;
    Ok(Op::new(Class::Integer, &[ty], &[ty], run))
}

/// Selects `bfind`: the position of the highest one bit, or of the highest bit that differs from the sign; with
/// `.shiftamt`, the amount by which to shift it to the top.
pub fn bfind(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let shift_amount = form.has("shiftamt");
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => if shift_amount {
        map1(cpu, |a: T| a.leading_zeros_or_max())
    } else {
        map1(cpu, |a: T| {
            let zeros = a.leading_zeros_or_max();
            if zeros == u32::MAX { u32::MAX } else { T::BITS - 1 - zeros }
        })
    });
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::U32], &[ty], run))
}

/// Selects `fns`: the position of the nth one bit.
pub fn fns(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::B32])?;
    let run = map3(cpu, find_nth_set);
    form.end()?;
    let uses = [ty, Type::U32, Type::S32];
    Ok(Op::new(Class::Integer, &[ty], &uses, run))
}

/// Selects `bfe`: an extended bit field.
pub fn bfe(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32 U64 S64], T => {
        map3(cpu, |a: T, from: u32, length: u32| a.extract(from & 0xff, length & 0xff))
    });
    form.end()?;
    let uses = [ty, Type::U32, Type::U32];
    Ok(Op::new(Class::Integer, &[ty], &uses, run))
}

/// Selects `bfi`: inserts the low bits of a as a field of b.
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

/// Selects `bmsk`: a field of ones.
pub fn bmsk(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let clamp = takes_clamp(form)?;
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

/// Selects `szext`: the low bits of a, extended.
pub fn szext(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let clamp = takes_clamp(form)?;
    let ty = form.ty()?;
    let run = for_type!(ty, [U32 S32], T => if clamp {
        map2(cpu, |a: T, length: u32| a.extract(0, length))
    } else {
        map2(cpu, |a: T, length: u32| a.extract(0, length & 31))
    });
    form.end()?;
    Ok(Op::new(Class::Integer, &[ty], &[ty, Type::U32], run))
}

/// Takes `.clamp` or `.wrap`. Returns true if amounts above 31 are clamped, false if they wrap modulo 32.
fn takes_clamp(form: &Form) -> Result<bool, FormError> {
    Ok(form.required(&["clamp", "wrap"], ".clamp, .wrap")? == "clamp")
}

/// Returns the position of the nth set bit, counted from `base` upwards (`n` > 0) or downwards (`n` < 0); for
/// 0 it is `base` itself, if that bit is set. Returns all ones if there is no such bit, but 0 for `i32::MIN`,
/// as an H200 does.
#[inline(never)]
fn find_nth_set(mask: u32, base: u32, n: i32) -> u32 {
    if n == i32::MIN {
        return 0;
    }
    let set = |bit: &u32| mask >> bit & 1 == 1;
    let skip = n.unsigned_abs().saturating_sub(1) as usize;
    let position = match n.signum() {
        _ if base > 31 => None,
        0 => Some(base).filter(set),
        1 => (base..32).filter(set).nth(skip),
        _ => (0..=base).rev().filter(set).nth(skip),
    };
    position.unwrap_or(u32::MAX)
}

/// Bit fields of words. Amounts beyond the word's width are clamped to it.
trait Word: Copy {
    /// Returns the number of zeros above the highest one bit, or above the highest bit that differs from the
    /// sign; all ones if there is no such bit.
    fn leading_zeros_or_max(self) -> u32;
    /// Returns the field of `length` bits that starts at bit `from`, extended.
    fn extract(self, from: u32, length: u32) -> Self;
}

trait Unsigned: Copy {
    /// Returns a word with the lowest `length` bits set.
    fn low_ones(length: u32) -> Self;
    /// Shifts left; zero for amounts of at least the word's width.
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
            fn leading_zeros_or_max(self) -> u32 {
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
            fn leading_zeros_or_max(self) -> u32 {
                (if self < 0 { !self } else { self } as $unsigned).leading_zeros_or_max()
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
