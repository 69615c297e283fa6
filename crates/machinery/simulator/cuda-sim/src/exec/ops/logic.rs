//! Logic, shifts and byte permutation. Source: PTX ISA, section 9.7.8 (`prmt`: 9.7.9).

use super::form::{Form, FormError, Op};
use super::value::{Row, Value, for_type, per_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map3, map3_imm, masks};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

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
