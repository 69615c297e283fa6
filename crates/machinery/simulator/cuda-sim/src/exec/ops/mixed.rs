//! Arithmetic with halves and single precision: `add.f32.f16`. Halves convert to single precision exactly.
//! Source: PTX ISA, section 9.7.5.

use super::form::{Form, FormError, Op};
use super::half::{bf16, f16};
use super::rounding::{Mode, Operation, RoundingDirection, single};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map2_imm, map3_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Returns true if a form names single precision and then a half type.
pub fn is_mixed(form: &Form) -> bool {
    form.first_type() == Some(Type::F32) && (form.contains("f16") || form.contains("bf16"))
}

/// Flag in the encoding of a [`Mode`]: the halves are `.bf16`.
const BFLOAT: u64 = 1 << 8;

/// Selects `add`: a half plus a number.
pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_form(form, true)?;
    let run = map2_imm(cpu, |a: u32, c: f32, code| {
        single(Operation::Add, [widen(a, code), c, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, Type::F32], run).with_imm(code))
}

/// Selects `sub`: a half minus a number.
pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_form(form, true)?;
    let run = map2_imm(cpu, |a: u32, c: f32, code| {
        single(Operation::Add, [widen(a, code), -c, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, Type::F32], run).with_imm(code))
}

/// Selects `fma`: a product of halves plus a number.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_form(form, false)?;
    let run = map3_imm(cpu, |a: u32, b: u32, c: f32, code| {
        let [a, b] = [a, b].map(|x| widen(x, code));
        single(Operation::Fma, [a, b, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, half, Type::F32], run).with_imm(code))
}

/// Takes the type of the halves and the rounding, which is optional if `rounding_is_optional` is true.
fn parse_form(form: &Form, rounding_is_optional: bool) -> Result<(Type, u64), FormError> {
    let direction = match RoundingDirection::float(form) {
        Some(direction) => direction,
        None if rounding_is_optional => RoundingDirection::Nearest,
        None => return Err(FormError::Missing(".rn, .rz, .rm, .rp")),
    };
    form.ty_among(&[Type::F32])?;
    let half = form.ty_among(&[Type::F16, Type::BF16])?;
    let sat = form.has("sat");
    form.end()?;
    let mode = Mode {
        direction,
        ftz: false,
        sat,
    };
    let bfloat = if half == Type::BF16 { BFLOAT } else { 0 };
    Ok((half, mode.code() | bfloat))
}

#[inline(always)]
fn widen(half: u32, code: u64) -> f32 {
    if code & BFLOAT != 0 {
        bf16(half)
    } else {
        f16(half)
    }
}
