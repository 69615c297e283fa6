//! Special functions: sine, cosine, base-2 exponential and logarithm, hyperbolic tangent. Source: PTX ISA,
//! section 9.7.3.
//!
//! The `.approx` results of a GPU have errors of 2^-23 to 2^-11. Here they are computed in double precision
//! and rounded, so they are within half an ulp, and a GPU's results may differ in the last bits.

use super::form::{Form, FormError, Op};
use super::rounding::{canonical, flush};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::map1;
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

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
fn sine(a: f32) -> f32 {
    f64::from(flush(a)).sin() as f32
}

#[inline(never)]
fn cosine(a: f32) -> f32 {
    f64::from(a).cos() as f32
}

#[inline(never)]
pub fn power_of_two(a: f32) -> f32 {
    f64::from(a).exp2() as f32
}

#[inline(never)]
fn logarithm(a: f32) -> f32 {
    f64::from(a).log2() as f32
}

#[inline(never)]
pub fn hyperbolic_tangent(a: f32) -> f32 {
    f64::from(a).tanh() as f32
}
