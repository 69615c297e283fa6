//! Floating-point arithmetic in single and double precision. Source: PTX ISA, section 9.7.3.
//!
//! Round-to-nearest forms are the CPU's own operations.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::{
    Mode, Operation, RoundingDirection, canonical, double, flush, fused_exactly, nearest, pass_nan,
    single,
};
use super::value::for_type;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map2_imm, map3, map3_imm, test1};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// `add`
pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let written = WrittenMode::of_two(form)?;
    let mode = written.mode;
    let run = match (written.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => nearest!(map2, cpu, mode, |a, b| a + b),
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Add, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a + b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Add, [a, b, b], mode)),
    };
    Ok(written.op(2, run))
}

/// `sub`
pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let written = WrittenMode::of_two(form)?;
    let mode = written.mode;
    let run = match (written.ty, mode.direction) {
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
    Ok(written.op(2, run))
}

/// `mul`
pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let written = WrittenMode::of_two(form)?;
    let mode = written.mode;
    let run = match (written.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map2, cpu, mode, |a, b| a * b, exactly f64::from(a) * f64::from(b))
        }
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Mul, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a * b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Mul, [a, b, b], mode)),
    };
    Ok(written.op(2, run))
}

/// `fma`, and `mad`, which is its older name.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let direction =
        RoundingDirection::float(form).ok_or(FormError::Missing(".rn, .rz, .rm, .rp"))?;
    let written = WrittenMode::rounded(form, direction)?;
    let mode = written.mode;
    let run = match (written.ty, direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map3, cpu, mode, |a, b, c| a.mul_add(b, c), exactly fused_exactly(a, b, c))
        }
        (Type::F32, _) => map3_imm(cpu, |a, b, c, mode| single(Operation::Fma, [a, b, c], mode)),
        (_, RoundingDirection::Nearest) => {
            map3(cpu, |a: f64, b, c| pass_nan([b, c, a], a.mul_add(b, c)))
        }
        _ => map3_imm(cpu, |a, b, c, mode| double(Operation::Fma, [a, b, c], mode)),
    };
    Ok(written.op(3, run))
}

/// What a sum or product is written with.
struct WrittenMode {
    ty: Type,
    mode: Mode,
}

impl WrittenMode {
    /// `add`, `sub`, `mul`: to nearest where no direction is written.
    fn of_two(form: &Form) -> Result<WrittenMode, FormError> {
        let direction = RoundingDirection::float(form).unwrap_or(RoundingDirection::Nearest);
        WrittenMode::rounded(form, direction)
    }

    fn rounded(form: &Form, direction: RoundingDirection) -> Result<WrittenMode, FormError> {
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
            Type::F32 | Type::F64 => Ok(WrittenMode { ty, mode }),
            _ => no_such_type(ty),
        }
    }

    fn op(self, sources: usize, run: Handlers) -> Op {
        Op::of_one_type(class(self.ty), self.ty, sources, run).with_imm(self.mode.code())
    }
}

/// What runs an operation on numbers of this type.
fn class(ty: Type) -> Class {
    if ty == Type::F64 {
        Class::Double
    } else {
        Class::Float
    }
}

// `abs` and `neg` are arithmetic to a NaN: it keeps its sign and becomes quiet, or canonical in single
// precision. `copysign` moves a bit, whatever it is given.

/// `abs`
pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = of_one(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(flush(a).abs())),
        Type::F32 => map1(cpu, |a: f32| canonical(a.abs())),
        _ => map1(cpu, |a: f64| pass_nan([a], a.abs())),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

/// `neg`
pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = of_one(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(-flush(a))),
        Type::F32 => map1(cpu, |a: f32| canonical(-a)),
        _ => map1(cpu, |a: f64| pass_nan([a], -a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

/// The type of an `abs` or `neg`, and whether it flushes subnormal numbers.
fn of_one(form: &Form) -> Result<(Type, bool), FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let ftz = ty == Type::F32 && form.has("ftz");
    form.end()?;
    Ok((ty, ftz))
}

/// `copysign`: the first operand's sign, the second's magnitude.
pub fn copysign(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    form.end()?;
    let run = match ty {
        Type::F32 => map2(cpu, |a: f32, b: f32| b.copysign(a)),
        _ => map2(cpu, |a: f64, b: f64| b.copysign(a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 2, run))
}

/// `testp`: what kind of number it is.
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
        // The ISA counts zeros among them.
        "normal" => test1(cpu, |a: T| a.is_normal() || a == 0.0),
        _ => test1(cpu, |a: T| a.is_subnormal()),
    });
    Ok(Op::new(Class::Integer, &[Type::Pred], &[ty], run))
}
