//! Bits of registers: counting, searching and fields (PTX ISA, section 9.7.1, `popc` to `szext`), logic and shifts
//! (section 9.7.8), byte permutation and `mov` (section 9.7.9).

use super::form::{Form, FormError, Op, no_such_type};
use super::value::{Row, Value, for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map3, map3_imm, map4, masks, split2, split4};
use crate::exec::sm::Handlers;
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
                let spare = (Self::BITS - length.min(Self::BITS)).min(Self::BITS - 1);
                if length == 0 { 0 } else { field << spare >> spare }
            }
        }
    )+};
}
words!(u32, i32; u64, i64);

/// Selects `and`, also for predicates.
pub fn and(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = match ty {
        Type::Pred => masks::<u32, _>(cpu, |a, b, _| a & b),
        _ => per_type!(map2, cpu, ty, [B16 B32 B64], |a, b| a & b),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Selects `or`, also for predicates.
pub fn or(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = match ty {
        Type::Pred => masks::<u32, _>(cpu, |a, b, _| a | b),
        _ => per_type!(map2, cpu, ty, [B16 B32 B64], |a, b| a | b),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Selects `xor`, also for predicates.
pub fn xor(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = match ty {
        Type::Pred => masks::<u32, _>(cpu, |a, b, _| a ^ b),
        _ => per_type!(map2, cpu, ty, [B16 B32 B64], |a, b| a ^ b),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Selects `not`, also for predicates.
pub fn not(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = match ty {
        Type::Pred => masks::<u32, _>(cpu, |a, _, _| !a),
        _ => per_type!(map1, cpu, ty, [B16 B32 B64], |a| !a),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 1, run))
}

/// Selects `cnot`: C's `!`, one for zero and zero otherwise.
pub fn cnot(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = for_type!(ty, [B16 B32 B64], T => map1(cpu, |a: Row<T>| Row::<T>::from(a == 0)));
    Ok(Op::of_one_type(Class::Integer, ty, 1, run))
}

/// Selects `shl`. Amounts beyond the width are clamped to it.
pub fn shl(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = for_type!(ty, [B16 B32 B64], T => map2(cpu, |a: Row<T>, by: u32| {
        let shifted = T::read(a) << (by & (T::BITS - 1));
        (if by < T::BITS { shifted } else { 0 }).row()
    }));
    Ok(Op::new(Class::Integer, &[ty], &[ty, Type::U32], run))
}

/// Selects `shr`. Amounts beyond the width are clamped to it; signed types shift in the sign.
pub fn shr(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = if ty.is_signed() {
        for_type!(ty, [S16 S32 S64], T => map2(cpu, |a: Row<T>, by: u32| {
            (T::read(a) >> by.min(T::BITS - 1)).row()
        }))
    } else {
        for_type!(ty, [B16 B32 B64 U16 U32 U64], T => map2(cpu, |a: Row<T>, by: u32| {
            let shifted = T::read(a) >> (by & (T::BITS - 1));
            (if by < T::BITS { shifted } else { 0 }).row()
        }))
    };
    Ok(Op::new(Class::Integer, &[ty], &[ty, Type::U32], run))
}

/// Selects `shf`: 32 bits of the shifted 64 bits `[b, a]`.
pub fn shf(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let left = form.required(&["l", "r"], ".l, .r")? == "l";
    let wrap = form.required(&["clamp", "wrap"], ".clamp, .wrap")? == "wrap";
    let ty = form.ty_among(&[Type::B32])?;
    form.end()?;
    #[inline(always)]
    fn join(low: u32, high: u32) -> u64 {
        u64::from(high) << 32 | u64::from(low)
    }
    let run = match (left, wrap) {
        (true, false) => map3(cpu, |a, b, by: u32| (join(a, b) << by.min(32) >> 32) as u32),
        (true, true) => map3(cpu, |a, b, by: u32| (join(a, b) << (by & 31) >> 32) as u32),
        (false, false) => map3(cpu, |a, b, by: u32| (join(a, b) >> by.min(32)) as u32),
        (false, true) => map3(cpu, |a, b, by: u32| (join(a, b) >> (by & 31)) as u32),
    };
    Ok(Op::new(Class::Integer, &[ty], &[ty, ty, Type::U32], run))
}

/// Selects `lop3`: any function of three bits, with its truth table in the immediate's low byte.
pub fn lop3(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::B32])?;
    form.end()?;
    let run = map3_imm(cpu, |a: u32, b: u32, c: u32, table: u64| {
        // Entry `n` of the truth table (a, b, c are bits 2, 1, 0 of n), repeated in all 32 bits.
        let entry = |n: u32| 0u32.wrapping_sub((table >> n) as u32 & 1);
        let choose = |select_bit: u32, zero: u32, one: u32| zero ^ (select_bit & (zero ^ one));
        let for_ab = |n: u32| choose(c, entry(n), entry(n + 1));
        choose(
            a,
            choose(b, for_ab(0), for_ab(2)),
            choose(b, for_ab(4), for_ab(6)),
        )
    });
    let mut op = Op::new(Class::Integer, &[ty], &[ty, ty, ty], run);
    op.literal = true;
    Ok(op)
}

/// Selects `prmt`: four bytes picked from the eight of `[b, a]`.
pub fn prmt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let mode = form.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    let ty = form.ty_among(&[Type::B32])?;
    // The other modes compute a selector of the plain mode from the low two bits of c.
    macro_rules! mode {
        (|$n:ident, $c:ident| $pick:expr) => {
            map3(cpu, |a: u32, b: u32, $c: u32| {
                let $c = $c & 3;
                let selector = (0..4).fold(0, |all, $n: u32| all | ($pick & 7) << (4 * $n));
                pick_bytes(a, b, selector)
            })
        };
    }
    form.end()?;
    let run: Handlers = match mode {
        None => map3(cpu, pick_bytes),
        Some("f4e") => mode!(|n, c| c + n),
        Some("b4e") => mode!(|n, c| c.wrapping_sub(n)),
        Some("rc8") => mode!(|n, c| c),
        Some("ecl") => mode!(|n, c| c.max(n)),
        Some("ecr") => mode!(|n, c| c.min(n)),
        Some(_) => mode!(|n, c| (c & 1) * 2 + (n & 1)),
    };
    Ok(Op::new(Class::Integer, &[ty], &[ty, ty, ty], run))
}

/// Returns the bytes picked by the nibbles of `selector`. A nibble's top bit selects that byte's sign instead.
#[inline(always)]
fn pick_bytes(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, n| {
        let nibble = selector >> (4 * n);
        let byte = (bytes >> (8 * (nibble & 7))) as u32 & 0xff;
        let sign = 0u32.wrapping_sub(byte >> 7) & 0xff;
        word | (if nibble & 8 == 0 { byte } else { sign }) << (8 * n)
    })
}

/// Selects `mov`. The registers of a vector are successive operands.
pub fn mov(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    match form.operand_lengths[..] {
        [parts, 1] if parts > 1 => split(ty, parts, cpu),
        [1, parts] if parts > 1 => join(ty, parts, cpu),
        _ => copy(ty, cpu),
    }
}

fn copy(ty: Type, cpu: Cpu) -> Result<Op, FormError> {
    let run = match ty {
        Type::Pred => masks::<u32, _>(cpu, |a, _, _| a),
        Type::B8 | Type::U8 | Type::S8 | Type::B128 => return no_such_type(ty),
        Type::U16x2 | Type::S16x2 | Type::F32x2 => return no_such_type(ty),
        _ if ty.bytes() == 8 => map1(cpu, |a: u64| a),
        _ => map1(cpu, |a: u32| a),
    };
    Ok(Op::new(Class::Move, &[ty], &[ty], run))
}

/// Selects `mov.b64 {%r1, %r2}, %rd1`: the low part goes to the first register.
fn split(ty: Type, parts: usize, cpu: Cpu) -> Result<Op, FormError> {
    let (part, run) = match (ty, parts) {
        (Type::B16, 2) => (Type::B8, split2(cpu, |a: u32| [a & 0xff, a >> 8 & 0xff])),
        (Type::B32, 2) => (Type::B16, split2(cpu, |a: u32| [a & 0xffff, a >> 16])),
        (Type::B32, 4) => (
            Type::B8,
            split4(cpu, |a: u32| [0, 8, 16, 24].map(|at| a >> at & 0xff)),
        ),
        (Type::B64, 2) => (
            Type::B32,
            split2(cpu, |a: u64| [a as u32, (a >> 32) as u32]),
        ),
        (Type::B64, 4) => (
            Type::B16,
            split4(cpu, |a: u64| {
                [0, 16, 32, 48].map(|at| (a >> at) as u32 & 0xffff)
            }),
        ),
        _ => return Err(FormError::Vector(ty.modifier(), parts)),
    };
    Ok(Op::new(Class::Move, &vec![part; parts], &[ty], run))
}

/// Selects `mov.b64 %rd1, {%r1, %r2}`.
fn join(ty: Type, parts: usize, cpu: Cpu) -> Result<Op, FormError> {
    let (part, run) = match (ty, parts) {
        (Type::B16, 2) => (
            Type::B8,
            map2(cpu, |a: u32, b: u32| a & 0xff | (b & 0xff) << 8),
        ),
        (Type::B32, 2) => (Type::B16, map2(cpu, |a: u32, b: u32| a & 0xffff | b << 16)),
        (Type::B32, 4) => (
            Type::B8,
            map4(cpu, |a: u32, b: u32, c: u32, d: u32| {
                a & 0xff | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24
            }),
        ),
        (Type::B64, 2) => (
            Type::B32,
            map2(cpu, |a: u32, b: u32| u64::from(b) << 32 | u64::from(a)),
        ),
        (Type::B64, 4) => (
            Type::B16,
            map4(cpu, |a: u32, b: u32, c: u32, d: u32| {
                let low = a & 0xffff | b << 16;
                let high = c & 0xffff | d << 16;
                u64::from(high) << 32 | u64::from(low)
            }),
        ),
        _ => return Err(FormError::Vector(ty.modifier(), parts)),
    };
    Ok(Op::new(Class::Move, &[ty], &vec![part; parts], run))
}
