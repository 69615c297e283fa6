//! Division, roots and special functions (sine, cosine, base-2 exponential and logarithm, hyperbolic tangent) in
//! single and double precision. Source: PTX ISA, section 9.7.3.
//!
//! The `.approx` forms of divisions and roots return the correctly rounded value, which satisfies every error bound of
//! the ISA, and follow its tables for special values. The `.approx` results of a GPU's special functions have errors of
//! 2^-23 to 2^-11. Here they are computed in double precision and rounded, so they are within half an ulp, and a GPU's
//! results may differ in the last bits.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::{
    Mode, Operation, RoundingDirection, canonical, double, flush, nearest, pass_nan, single,
};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map1_imm, map2, map2_imm};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// The accuracy of a division or root: a rounding direction, or an approximate form.
enum Accuracy {
    Rounded(RoundingDirection),
    Approximate,
    /// `div.full`
    FullRange,
}

/// Takes the accuracy of all instructions except `div`.
fn accuracy(form: &Form) -> Result<Accuracy, FormError> {
    rounded_or_approximate(form).ok_or(FormError::Missing(".approx, .rn, .rz, .rm, .rp"))
}

fn rounded_or_approximate(form: &Form) -> Option<Accuracy> {
    match RoundingDirection::float(form) {
        Some(direction) => Some(Accuracy::Rounded(direction)),
        None => form.has("approx").then_some(Accuracy::Approximate),
    }
}

/// Takes the rest of a division's or root's form. Returns its mode, type and class.
fn parse_form(form: &Form, accuracy: &Accuracy) -> Result<(Mode, Type, Class), FormError> {
    let direction = match *accuracy {
        Accuracy::Rounded(direction) => direction,
        _ => RoundingDirection::Nearest,
    };
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let double_approximate = ty == Type::F64 && matches!(accuracy, Accuracy::Approximate);
    let ftz = (ty == Type::F32 || double_approximate) && form.has("ftz");
    form.end()?;
    let class = if ty == Type::F64 {
        Class::Double
    } else {
        Class::Special
    };
    let mode = Mode {
        direction,
        ftz,
        sat: false,
    };
    Ok((mode, ty, class))
}

pub fn div(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let accuracy = rounded_or_approximate(form)
        .or_else(|| form.has("full").then_some(FullRange))
        .ok_or(FormError::Missing(".approx, .full, .rn, .rz, .rm, .rp"))?;
    let (mode, ty, class) = parse_form(form, &accuracy)?;
    let run: Handlers = match (ty, accuracy) {
        (Type::F32, Approximate) => {
            nearest!(map2, cpu, mode, |a, b| divide_approximately(a, b), exactly f64::from(a) / f64::from(b))
        }
        (Type::F32, FullRange | Rounded(RoundingDirection::Nearest)) => {
            nearest!(map2, cpu, mode, |a, b| a / b, exactly f64::from(a) / f64::from(b))
        }
        (Type::F32, Rounded(_)) => {
            map2_imm(cpu, |a, b, mode| single(Operation::Div, [a, b, b], mode))
        }
        (_, Rounded(RoundingDirection::Nearest)) => map2(cpu, |a: f64, b| pass_nan([a, b], a / b)),
        (_, Rounded(_)) => map2_imm(cpu, |a, b, mode| double(Operation::Div, [a, b, b], mode)),
        (_, Approximate | FullRange) => return no_such_type(ty),
    };
    Ok(Op::new(class, &[ty], &[ty, ty], run).with_imm(mode.code()))
}

/// Computes `div.approx`: a times the reciprocal of b, which underflows to zero above 2^126.
#[inline(always)]
fn divide_approximately(a: f32, b: f32) -> f32 {
    /// 2^126
    const LARGEST: f32 = f32::from_bits(0x7e80_0000);
    let reciprocal_lost = b.abs() > LARGEST && b.abs() < f32::INFINITY;
    if reciprocal_lost {
        a * 0f32.copysign(b)
    } else {
        a / b
    }
}

pub fn rcp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let accuracy = accuracy(form)?;
    let (mode, ty, class) = parse_form(form, &accuracy)?;
    let run: Handlers = match (ty, accuracy) {
        (Type::F32, Approximate | FullRange | Rounded(RoundingDirection::Nearest)) => {
            nearest!(map1, cpu, mode, |a| 1.0 / a)
        }
        (Type::F32, Rounded(_)) => {
            map1_imm(cpu, |a, mode| single(Operation::Div, [1.0, a, a], mode))
        }
        (_, Rounded(RoundingDirection::Nearest)) => map1(cpu, |a: f64| pass_nan([a], 1.0 / a)),
        (_, Rounded(_)) => map1_imm(cpu, |a, mode| double(Operation::Div, [1.0, a, a], mode)),
        (_, Approximate | FullRange) if mode.ftz => {
            map1(cpu, |a: f64| upper_result(1.0 / upper_word(a)))
        }
        (_, Approximate | FullRange) => return Err(FormError::Missing(".ftz")),
    };
    Ok(Op::new(class, &[ty], &[ty], run).with_imm(mode.code()))
}

/// Returns a double's upper 32 bits, subnormals flushed: the `.approx.ftz.f64` forms read and write nothing
/// else.
#[inline(always)]
fn upper_word(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(if bits << 1 >> 53 == 0 {
        bits & 1 << 63
    } else {
        bits
    })
}

/// Returns a result of those forms, with NaNs made canonical.
#[inline(always)]
fn upper_result(a: f64) -> f64 {
    let is_nan = a.to_bits() << 1 > 0x7ff0_0000_0000_0000 << 1;
    f64::from_bits(if is_nan {
        0x7fff_ffff << 32
    } else {
        upper_word(a).to_bits()
    })
}

pub fn sqrt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let accuracy = accuracy(form)?;
    let (mode, ty, class) = parse_form(form, &accuracy)?;
    let run: Handlers = match (ty, accuracy) {
        (Type::F32, Approximate | FullRange | Rounded(RoundingDirection::Nearest)) => {
            nearest!(map1, cpu, mode, |a| a.sqrt())
        }
        (Type::F32, Rounded(_)) => {
            map1_imm(cpu, |a, mode| single(Operation::Sqrt, [a, a, a], mode))
        }
        (_, Rounded(RoundingDirection::Nearest)) => map1(cpu, |a: f64| pass_nan([a], a.sqrt())),
        (_, Rounded(_)) => map1_imm(cpu, |a, mode| double(Operation::Sqrt, [a, a, a], mode)),
        (_, Approximate | FullRange) => return no_such_type(ty),
    };
    Ok(Op::new(class, &[ty], &[ty], run).with_imm(mode.code()))
}

pub fn rsqrt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let accuracy = accuracy(form)?;
    let (mode, ty, class) = parse_form(form, &accuracy)?;
    if let Accuracy::Rounded(_) = accuracy {
        return Err(FormError::Missing(".approx"));
    }
    let run: Handlers = match ty {
        Type::F32 => nearest!(map1, cpu, mode, |a| (1.0 / f64::from(a).sqrt()) as f32),
        _ if mode.ftz => map1(cpu, |a: f64| upper_result(1.0 / upper_word(a).sqrt())),
        _ => map1(cpu, |a: f64| pass_nan([a], 1.0 / a.sqrt())),
    };
    Ok(Op::new(class, &[ty], &[ty], run))
}

/// Applies `$f` with or without `.ftz`.
macro_rules! function {
    ($cpu:expr, $ftz:expr, $f:ident) => {
        if $ftz {
            map1($cpu, |a: f32| flush(canonical($f(flush(a)))))
        } else {
            map1($cpu, |a: f32| canonical($f(a)))
        }
    };
}

pub fn sin(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ftz = takes_ftz(form)?;
    Ok(op(function!(cpu, ftz, sine)))
}

pub fn cos(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ftz = takes_ftz(form)?;
    Ok(op(function!(cpu, ftz, cosine)))
}

/// Selects `ex2` in single precision.
pub fn ex2(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ftz = takes_ftz(form)?;
    Ok(op(function!(cpu, ftz, power_of_two)))
}

pub fn lg2(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ftz = takes_ftz(form)?;
    Ok(op(function!(cpu, ftz, logarithm)))
}

/// Selects `tanh` in single precision.
pub fn tanh(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    approximate_single(form)?;
    form.end()?;
    Ok(op(map1(cpu, |a: f32| canonical(hyperbolic_tangent(a)))))
}

/// Takes the form of all functions except `tanh`. Returns true if it flushes subnormal numbers.
fn takes_ftz(form: &Form) -> Result<bool, FormError> {
    approximate_single(form)?;
    let ftz = form.has("ftz");
    form.end()?;
    Ok(ftz)
}

/// Takes `.approx` and the type, which all forms have.
fn approximate_single(form: &Form) -> Result<(), FormError> {
    form.required(&["approx"], ".approx")?;
    form.ty_among(&[Type::F32])?;
    Ok(())
}

fn op(run: Handlers) -> Op {
    Op::new(Class::Special, &[Type::F32], &[Type::F32], run)
}

/// Computes the sine. The ISA's table treats subnormal angles as zeros.
#[inline(never)]
pub fn sine(a: f32) -> f32 {
    f64::from(flush(a)).sin() as f32
}

#[inline(never)]
pub fn cosine(a: f32) -> f32 {
    f64::from(a).cos() as f32
}

#[inline(never)]
pub fn power_of_two(a: f32) -> f32 {
    f64::from(a).exp2() as f32
}

#[inline(never)]
pub fn logarithm(a: f32) -> f32 {
    f64::from(a).log2() as f32
}

#[inline(never)]
pub fn hyperbolic_tangent(a: f32) -> f32 {
    f64::from(a).tanh() as f32
}
