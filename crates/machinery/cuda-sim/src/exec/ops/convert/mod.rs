//! `cvt`: between all integer and floating-point types. Source: PTX ISA, section 9.7.9, `cvt`.
//!
//! Registers may be wider than the types: a source is read from the low bits, a result is sign-
//! or zero-extended to its register. Conversions as compilers write them have a handler each
//! (`frequent`); the rest (8-bit results, `.sat`, directed roundings, half precision) goes one lane at a
//! time (`any`), with the [`Conversion`] in the immediate.

mod any;
mod clamp;
mod conversion;
mod frequent;
mod nan;
mod saturated;

pub use saturated::pack;

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::RoundingDirection;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map1_imm, map2_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;
use any::convert;
use conversion::Conversion;

const INTEGERS: [Type; 8] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];

/// `cvt`
pub fn cvt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.shows("tf32") {
        return to_tf32(form, cpu);
    }
    let float = RoundingDirection::float(form);
    let integer = RoundingDirection::integer(form);
    let to = form.ty()?;
    if matches!(to, Type::F16x2 | Type::BF16x2) {
        return two_halves(form, to, float, cpu);
    }
    let from = form.ty()?;
    let known = |ty: &Type| INTEGERS.contains(ty) || FLOATS.contains(ty);
    if let Some(unknown) = [to, from].into_iter().find(|ty| !known(ty)) {
        return no_such_type(unknown);
    }
    let single = to == Type::F32 || from == Type::F32;
    let conversion = Conversion {
        to,
        from,
        direction: direction(to, from, float, integer)?,
        integral: integer.is_some(),
        // Of what becomes .f16 nothing is flushed: an H200 takes `.ftz` there and does not do it.
        ftz: single && form.has("ftz") && to != Type::F16,
        sat: form.has("sat"),
        relu: matches!(to, Type::F16 | Type::BF16) && from.is_float() && form.has("relu"),
        register: form.def_bytes.unwrap_or(to.bytes()),
    };
    form.end()?;
    let source = form.use_bytes.unwrap_or(from.bytes());
    for (register, ty) in [(conversion.register, to), (source, from)] {
        if register < ty.bytes() {
            return Err(FormError::Narrow {
                register,
                ty: ty.modifier(),
            });
        }
    }
    let run = match frequent::handler(cpu, conversion, source) {
        Some(handler) => handler,
        None => match (source, conversion.register) {
            (8, 8) => map1_imm(cpu, |a: u64, code| convert(a, code)),
            (8, _) => map1_imm(cpu, |a: u64, code| convert(a, code) as u32),
            (_, 8) => map1_imm(cpu, |a: u32, code| convert(a.into(), code)),
            (_, _) => map1_imm(cpu, |a: u32, code| convert(a.into(), code) as u32),
        },
    };
    let class = match (to.is_float(), from.is_float()) {
        (false, false) => Class::Integer,
        _ => Class::Special,
    };
    let def = in_register(to, conversion.register);
    Ok(Op::new(class, &[def], &[in_register(from, source)], run).with_imm(conversion.code()))
}

/// The type an operand is checked against: its own, or plain bits where the register is wider.
fn in_register(ty: Type, register: u32) -> Type {
    match register {
        _ if register == ty.bytes() => ty,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}

/// The rounding a conversion is written with: an integer rounding from float to integer or
/// between equal floats, a float rounding where bits can be lost, none elsewhere.
fn direction(
    to: Type,
    from: Type,
    float: Option<RoundingDirection>,
    integer: Option<RoundingDirection>,
) -> Result<RoundingDirection, FormError> {
    const INTEGER: FormError = FormError::Missing(".rni, .rzi, .rmi, .rpi");
    const FLOAT: FormError = FormError::Missing(".rn, .rz, .rm, .rp");
    let refuse = |name: &str| Err(FormError::Modifier(name.to_owned()));
    let needs_float = match (to.is_float(), from.is_float()) {
        (true, false) => true,
        (true, true) => to != from && (to.bytes() < from.bytes() || to.bytes() == from.bytes()),
        _ => false,
    };
    let takes_integer = from.is_float() && (!to.is_float() || to == from);
    match (float, integer) {
        (Some(_), Some(_)) => refuse("rni, .rzi, .rmi or .rpi beside a float rounding"),
        (Some(direction), None) if needs_float => Ok(direction),
        (Some(_), None) => refuse("rn, .rz, .rm or .rp"),
        (None, Some(direction)) if takes_integer => Ok(direction),
        (None, Some(_)) => refuse("rni, .rzi, .rmi or .rpi"),
        (None, None) if needs_float => Err(FLOAT),
        (None, None) if from.is_float() && !to.is_float() => Err(INTEGER),
        (None, None) => Ok(RoundingDirection::Nearest),
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a in the upper half, b in the lower.
fn two_halves(
    form: &Form,
    to: Type,
    direction: Option<RoundingDirection>,
    cpu: Cpu,
) -> Result<Op, FormError> {
    let from = form.ty_among(&[Type::F32])?;
    let direction = match direction {
        Some(direction @ (RoundingDirection::Nearest | RoundingDirection::Zero)) => direction,
        _ => return Err(FormError::Missing(".rn, .rz")),
    };
    let relu = form.has("relu");
    form.end()?;
    let half = Conversion {
        to: if to == Type::F16x2 {
            Type::F16
        } else {
            Type::BF16
        },
        from,
        direction,
        integral: false,
        ftz: false,
        sat: false,
        relu,
        register: 2,
    };
    let run = map2_imm(cpu, |a: u32, b: u32, code| {
        (convert(a.into(), code) << 16 | convert(b.into(), code)) as u32
    });
    Ok(Op::new(Class::Special, &[to], &[from, from], run).with_imm(half.code()))
}

/// `cvt.rna.tf32.f32`: to the 10 bits of fraction that tensor cores take, halves away from zero.
/// Source: PTX ISA; what an H200 does with NaN (cut off as it is) and with numbers that become too
/// large (infinity).
fn to_tf32(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    const LOST: u32 = 0x1fff;
    const HALF: u32 = 0x1000;
    form.required(&["rna"], ".rna")?;
    form.has("tf32");
    form.ty_among(&[Type::F32])?;
    form.end()?;
    let run = map1(cpu, |bits: u32| {
        let special = f32::from_bits(bits).is_nan();
        let half = if special { 0 } else { HALF };
        (bits + half) & !LOST
    });
    Ok(Op::new(Class::Special, &[Type::B32], &[Type::F32], run))
}
