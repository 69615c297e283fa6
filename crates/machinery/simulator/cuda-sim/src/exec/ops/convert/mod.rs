//! `cvt`: conversions between all integer and floating-point types. Source: PTX ISA, section 9.7.9, `cvt` and
//! `cvt.pack`.
//!
//! Registers may be wider than the types: a source is read from the low bits, a result is sign- or
//! zero-extended. The conversions that compilers commonly emit have a handler each (`frequent`). The others
//! (8-bit results, `.sat`, directed rounding, half precision) run one lane at a time (`general`), with the
//! [`Conversion`] in the immediate.

mod frequent;
mod general;

use super::form::{Form, FormError, Op, no_such_type};
use super::half;
use super::rounding::RoundingDirection;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map1_imm, map2, map2_imm, map3_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;
use general::convert;

pub fn cvt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.contains("tf32") {
        return to_tf32(form, cpu);
    }
    let float = RoundingDirection::float(form);
    let integer = RoundingDirection::integer(form);
    let to = form.ty()?;
    if matches!(to, Type::F16x2 | Type::BF16x2) {
        return pack_halves(form, to, float, cpu);
    }
    let from = form.ty()?;
    if let Some(unknown) = [to, from].into_iter().find(|ty| !TYPES.contains(ty)) {
        return no_such_type(unknown);
    }
    let single = to == Type::F32 || from == Type::F32;
    let conversion = Conversion {
        to,
        from,
        direction: direction(to, from, float, integer)?,
        integral: integer.is_some(),
        // With a destination of .f16 nothing is flushed: an H200 accepts `.ftz` there and ignores it.
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

/// Returns the type against which an operand is checked: `ty`, or an untyped one if the register is wider.
fn in_register(ty: Type, register: u32) -> Type {
    match register {
        _ if register == ty.bytes() => ty,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}

/// Returns the rounding of a conversion: integer rounding from float to integer or between equal floats,
/// float rounding if bits can be lost, none otherwise.
fn direction(
    to: Type,
    from: Type,
    float: Option<RoundingDirection>,
    integer: Option<RoundingDirection>,
) -> Result<RoundingDirection, FormError> {
    const INTEGER: FormError = FormError::Missing(".rni, .rzi, .rmi, .rpi");
    const FLOAT: FormError = FormError::Missing(".rn, .rz, .rm, .rp");
    let reject = |name: &str| Err(FormError::Modifier(name.to_owned()));
    let needs_float = match (to.is_float(), from.is_float()) {
        (true, false) => true,
        (true, true) => to != from && (to.bytes() < from.bytes() || to.bytes() == from.bytes()),
        _ => false,
    };
    let takes_integer = from.is_float() && (!to.is_float() || to == from);
    match (float, integer) {
        (Some(_), Some(_)) => reject("rni, .rzi, .rmi or .rpi next to a float rounding"),
        (Some(direction), None) if needs_float => Ok(direction),
        (Some(_), None) => reject("rn, .rz, .rm or .rp"),
        (None, Some(direction)) if takes_integer => Ok(direction),
        (None, Some(_)) => reject("rni, .rzi, .rmi or .rpi"),
        (None, None) if needs_float => Err(FLOAT),
        (None, None) if from.is_float() && !to.is_float() => Err(INTEGER),
        (None, None) => Ok(RoundingDirection::Nearest),
    }
}

/// Selects `cvt.rn.f16x2.f32 d, a, b`: a in the upper half, b in the lower.
fn pack_halves(
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
    if direction == RoundingDirection::Nearest && !relu {
        let run = match to {
            Type::F16x2 => map2(cpu, half::to_f16x2),
            _ => map2(cpu, half::to_bf16x2),
        };
        return Ok(Op::new(Class::Special, &[to], &[from, from], run));
    }
    let conversion = Conversion {
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
    Ok(Op::new(Class::Special, &[to], &[from, from], run).with_imm(conversion.code()))
}

/// Selects `cvt.rna.tf32.f32`: rounds to the 10 fraction bits that tensor cores use, ties away from zero.
/// Source: PTX ISA; NaNs are truncated and overflow becomes infinity as on an H200.
fn to_tf32(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    const DROPPED_BITS: u32 = 0x1fff;
    const HALF: u32 = 0x1000;
    form.required(&["rna"], ".rna")?;
    form.has("tf32");
    form.ty_among(&[Type::F32])?;
    form.end()?;
    let run = map1(cpu, |bits: u32| {
        let special = f32::from_bits(bits).is_nan();
        let half = if special { 0 } else { HALF };
        (bits + half) & !DROPPED_BITS
    });
    Ok(Op::new(Class::Special, &[Type::B32], &[Type::F32], run))
}

/// A conversion's types and modifiers.
#[derive(Debug, Clone, Copy)]
pub struct Conversion {
    pub to: Type,
    pub from: Type,
    pub direction: RoundingDirection,
    /// True if a float is rounded to an integral value (`.rni` and the like).
    pub integral: bool,
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
    /// Bytes of the destination register.
    pub register: u32,
}

/// The types that can be converted, indexed by their number in the encoding.
const TYPES: [Type; 12] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
];

impl Conversion {
    pub fn code(self) -> u64 {
        let number = |ty| {
            TYPES
                .iter()
                .position(|candidate| *candidate == ty)
                .unwrap_or(0) as u64
        };
        number(self.to)
            | number(self.from) << 4
            | (self.direction as u64) << 8
            | u64::from(self.integral) << 12
            | u64::from(self.ftz) << 13
            | u64::from(self.sat) << 14
            | u64::from(self.relu) << 15
            | u64::from(self.register) << 16
    }

    pub fn from_code(code: u64) -> Conversion {
        let ty = |at: u32| TYPES[(code >> at & 15) as usize % TYPES.len()];
        let flag = |at: u32| code >> at & 1 == 1;
        let direction = match code >> 8 & 3 {
            0 => RoundingDirection::Nearest,
            1 => RoundingDirection::Zero,
            2 => RoundingDirection::Down,
            _ => RoundingDirection::Up,
        };
        Conversion {
            to: ty(0),
            from: ty(4),
            direction,
            integral: flag(12),
            ftz: flag(13),
            sat: flag(14),
            relu: flag(15),
            register: (code >> 16) as u32,
        }
    }
}

/// Target types and their widths in bits.
const TARGETS: [(&str, u32); 8] = [
    ("s16", 16),
    ("u16", 16),
    ("s8", 8),
    ("u8", 8),
    ("s4", 4),
    ("u4", 4),
    ("s2", 2),
    ("u2", 2),
];

/// Selects `cvt.pack`.
pub fn pack(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.has("pack");
    form.required(&["sat"], ".sat")?;
    // The first type is the target type.
    const ALL: &str = ".s16, .u16, .s8, .u8, .s4, .u4, .s2, .u2";
    let mut names = TARGETS.map(|(name, _)| name).to_vec();
    names.push("s32");
    let first = form.required(&names, ALL)?;
    let target = TARGETS.iter().find(|(name, _)| *name == first);
    let &(target, bits) = target.ok_or(FormError::Missing(ALL))?;
    form.required(&["s32"], ".s32 after the target type")?;
    let code = u64::from(bits) | u64::from(target.starts_with('s')) << 8;
    let mut uses = vec![Type::S32, Type::S32];
    let run = if bits == 16 {
        map2_imm(cpu, |a: i32, b: i32, code| pack_clamped(a, b, 0, code))
    } else {
        // Previous contents move up.
        form.required(&["b32"], ".b32")?;
        uses.push(Type::B32);
        map3_imm(cpu, |a: i32, b: i32, c: u32, code| {
            pack_clamped(a, b, c, code)
        })
    };
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::B32], &uses, run).with_imm(code))
}

/// Returns `b` in the lowest bits, `a` above it, and the part of `before` that fits above both.
#[inline(always)]
fn pack_clamped(a: i32, b: i32, before: u32, code: u64) -> u32 {
    let (bits, signed) = (code as u32 & 0xff, code >> 8 != 0);
    let (min, max) = if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    let clamped = |x: i32| x.clamp(min, max) as u32 & ((1 << bits) - 1);
    let previous = if bits == 16 { 0 } else { before << (2 * bits) };
    previous | clamped(a) << bits | clamped(b)
}
