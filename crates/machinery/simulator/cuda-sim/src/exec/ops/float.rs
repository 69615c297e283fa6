//! Floating-point arithmetic in single and double precision. Source: PTX ISA, section 9.7.3.
//!
//! Round-to-nearest forms are the CPU's own operations.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::{
    Mode, Operation, RoundingDirection, canonical, double, flush, fused_round_to_odd, nearest,
    pass_nan, single,
};
use super::value::for_type;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map2_imm, map3, map3_imm, test1};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => nearest!(map2, cpu, mode, |a, b| a + b),
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Add, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a + b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Add, [a, b, b], mode)),
    };
    Ok(parsed.op(2, run))
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => nearest!(map2, cpu, mode, |a, b| a - b),
        (Type::F32, _) => map2_imm(cpu, |a, b: f32, mode| {
            single(Operation::Add, [a, -b, b], mode)
        }),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a - b)),
        _ => map2_imm(cpu, |a: f64, b: f64, mode| {
            // Negating b would also turn the sign of a NaN, which must pass through.
            let minus_b = if b.is_nan() { b } else { -b };
            double(Operation::Add, [a, minus_b, b], mode)
        }),
    };
    Ok(parsed.op(2, run))
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map2, cpu, mode, |a, b| a * b, exactly f64::from(a) * f64::from(b))
        }
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Mul, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a * b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Mul, [a, b, b], mode)),
    };
    Ok(parsed.op(2, run))
}

/// Selects `fma`, and `mad`, which is its older name.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let direction =
        RoundingDirection::float(form).ok_or(FormError::Missing(".rn, .rz, .rm, .rp"))?;
    let parsed = ParsedMode::rounded(form, direction)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map3, cpu, mode, |a, b, c| a.mul_add(b, c), exactly fused_round_to_odd(a, b, c))
        }
        (Type::F32, _) => map3_imm(cpu, |a, b, c, mode| single(Operation::Fma, [a, b, c], mode)),
        (_, RoundingDirection::Nearest) => {
            map3(cpu, |a: f64, b, c| pass_nan([b, c, a], a.mul_add(b, c)))
        }
        _ => map3_imm(cpu, |a, b, c, mode| double(Operation::Fma, [a, b, c], mode)),
    };
    Ok(parsed.op(3, run))
}

/// The type and mode of an addition or multiplication.
struct ParsedMode {
    ty: Type,
    mode: Mode,
}

impl ParsedMode {
    /// Takes the form of `add`, `sub` or `mul`, which round to nearest by default.
    fn with_default_rounding(form: &Form) -> Result<ParsedMode, FormError> {
        let direction = RoundingDirection::float(form).unwrap_or(RoundingDirection::Nearest);
        ParsedMode::rounded(form, direction)
    }

    fn rounded(form: &Form, direction: RoundingDirection) -> Result<ParsedMode, FormError> {
        let ty = form.ty()?;
        // Double precision has neither `.ftz` nor `.sat`.
        let is_single = ty == Type::F32;
        let mode = Mode {
            direction,
            ftz: is_single && form.has("ftz"),
            sat: is_single && form.has("sat"),
        };
        form.end()?;
        match ty {
            Type::F32 | Type::F64 => Ok(ParsedMode { ty, mode }),
            _ => no_such_type(ty),
        }
    }

    fn op(self, sources: usize, run: Handlers) -> Op {
        Op::of_one_type(class(self.ty), self.ty, sources, run).with_imm(self.mode.code())
    }
}

/// Returns the class of operations on this type.
fn class(ty: Type) -> Class {
    if ty == Type::F64 {
        Class::Double
    } else {
        Class::Float
    }
}

// `abs` and `neg` treat NaNs arithmetically: they keep their sign and become quiet, or canonical in single
// precision. `copysign` only moves a bit.

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = parse_unary(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(flush(a).abs())),
        Type::F32 => map1(cpu, |a: f32| canonical(a.abs())),
        _ => map1(cpu, |a: f64| pass_nan([a], a.abs())),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = parse_unary(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(-flush(a))),
        Type::F32 => map1(cpu, |a: f32| canonical(-a)),
        _ => map1(cpu, |a: f64| pass_nan([a], -a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

/// Takes the form of `abs` or `neg`. Returns its type, and true if it flushes subnormal numbers.
fn parse_unary(form: &Form) -> Result<(Type, bool), FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let ftz = ty == Type::F32 && form.has("ftz");
    form.end()?;
    Ok((ty, ftz))
}

/// Selects `copysign`: the first operand's sign, the second's magnitude.
pub fn copysign(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    form.end()?;
    let run = match ty {
        Type::F32 => map2(cpu, |a: f32, b: f32| b.copysign(a)),
        _ => map2(cpu, |a: f64, b: f64| b.copysign(a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 2, run))
}

/// Selects `testp`: tests the kind of a number.
pub fn testp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    const KINDS: [&str; 6] = [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ];
    let kind = form.required(
        &KINDS,
        ".finite, .infinite, .number, .notanumber, .normal, .subnormal",
    )?;
    let ty = form.ty()?;
    form.end()?;
    let run: Handlers = for_type!(ty, [F32 F64], T => match kind {
        "finite" => test1(cpu, |a: T| a.is_finite()),
        "infinite" => test1(cpu, |a: T| a.is_infinite()),
        "number" => test1(cpu, |a: T| !a.is_nan()),
        "notanumber" => test1(cpu, |a: T| a.is_nan()),
        // The ISA counts zeros as normal numbers.
        "normal" => test1(cpu, |a: T| a.is_normal() || a == 0.0),
        _ => test1(cpu, |a: T| a.is_subnormal()),
    });
    Ok(Op::new(Class::Integer, &[Type::Pred], &[ty], run))
}
