//! The special functions: sine, cosine, powers and logarithms of two, hyperbolic tangent. Source:
//! PTX ISA, section 9.7.3.
//!
//! A GPU's `.approx` answers carry errors of 2^-23 to 2^-11; these are computed in double precision
//! and rounded, so they are within half an ulp and a GPU's may differ in the last bits.

use super::form::{Form, FormError, Op};
use super::half;
use super::rounding::{canonical, flush};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::map1;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// The operation of a special function.
pub fn select(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if !form.has("approx") {
        return Err(FormError::Missing(".approx"));
    }
    let ty = form.first_type().ok_or(FormError::NoType)?;
    if ty != Type::F32 && matches!(form.mnemonic, "ex2" | "tanh") {
        return half::special(form, cpu);
    }
    let ty = form.ty_among(&[Type::F32])?;
    let ftz = form.mnemonic != "tanh" && form.has("ftz");
    form.end()?;
    macro_rules! function {
        ($f:ident) => {
            if ftz {
                map1(cpu, |a: f32| flush(canonical($f(flush(a)))))
            } else {
                map1(cpu, |a: f32| canonical($f(a)))
            }
        };
    }
    let run = match form.mnemonic {
        "sin" => function!(sine),
        "cos" => function!(cosine),
        "ex2" => function!(power_of_two),
        "lg2" => function!(logarithm),
        _ => function!(hyperbolic_tangent),
    };
    Ok(Op::new(Class::Special, &[ty], &[ty], run))
}

/// The ISA's table has subnormal angles as zeros.
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
