//! `mov`: copies, and the forms that split a register into a vector of narrower ones or join them. Source:
//! PTX ISA, section 9.7.9, `mov`.

use super::form::{Form, FormError, Op, no_such_type};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map4, masks, split2, split4};
use crate::isa::Class;
use crate::ptx::ast::Type;

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
        (Type::B32, 2) => (Type::B16, split2(cpu, |a: u32| [a & 0xffff, a >> 16])),
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
        (Type::B32, 2) => (Type::B16, map2(cpu, |a: u32, b: u32| a & 0xffff | b << 16)),
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
