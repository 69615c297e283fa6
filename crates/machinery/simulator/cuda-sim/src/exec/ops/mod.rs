//! Register instructions, one file per family. Each PTX instruction has a function that selects the operation
//! of a written form. The table of instructions (`lower/function/instructions`) names the function of each. The functions
//! in this file are those of instructions that exist in several families, which the type or `.cc` distinguishes.

pub mod bits;
pub mod carry;
pub mod compare;
pub mod convert;
pub mod float;
pub mod form;
pub mod functions;
pub mod half;
pub mod integer;
pub mod pairs;
pub mod rounding;
mod value;
pub mod video;

pub use form::{Form, FormError, Op, Select};

use super::cpu::Cpu;
use crate::ptx::ast::Type;

/// Selects an operation by the family of its type: `float`, `half`, or `integer` for integers and all other types.
fn by_family(
    form: &Form,
    cpu: Cpu,
    float: Select,
    half: Select,
    integer: Select,
) -> Result<Op, FormError> {
    let select = match form.first_type() {
        Some(Type::F32 | Type::F64) => float,
        Some(Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2) => half,
        _ => integer,
    };
    select(form, cpu)
}

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if half::is_mixed(form) {
        return half::mixed_add(form, cpu);
    }
    match form.first_type() {
        Some(Type::U16x2 | Type::S16x2) => return pairs::add(form, cpu),
        Some(Type::F32x2) => return pairs::add_singles(form, cpu),
        _ => {}
    }
    if form.contains("cc") {
        return carry::add(form, cpu);
    }
    by_family(form, cpu, float::add, half::add, integer::add)
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if half::is_mixed(form) {
        return half::mixed_sub(form, cpu);
    }
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::sub_singles(form, cpu);
    }
    if form.contains("cc") {
        return carry::sub(form, cpu);
    }
    by_family(form, cpu, float::sub, half::sub, integer::sub)
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::mul_singles(form, cpu);
    }
    by_family(form, cpu, float::mul, half::mul, integer::mul)
}

pub fn mad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.contains("cc") {
        return carry::mad(form, cpu);
    }
    by_family(form, cpu, float::fma, half::unsupported, integer::mad)
}

/// Selects `fma`. It does not exist for integers, for which [`float::fma`] reports the error.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if half::is_mixed(form) {
        return half::mixed_fma(form, cpu);
    }
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::fma_singles(form, cpu);
    }
    by_family(form, cpu, float::fma, half::fma, float::fma)
}

pub fn div(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    by_family(form, cpu, functions::div, half::unsupported, integer::div)
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.operand_lengths.len() == 4 {
        return float::min(form, cpu);
    }
    if let Some(Type::U16x2 | Type::S16x2) = form.first_type() {
        return pairs::min(form, cpu);
    }
    by_family(form, cpu, float::min, half::min, integer::min)
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.operand_lengths.len() == 4 {
        return float::max(form, cpu);
    }
    if let Some(Type::U16x2 | Type::S16x2) = form.first_type() {
        return pairs::max(form, cpu);
    }
    by_family(form, cpu, float::max, half::max, integer::max)
}

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    by_family(form, cpu, float::abs, half::abs, integer::abs)
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    by_family(form, cpu, float::neg, half::neg, integer::neg)
}

pub fn ex2(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    match form.first_type() {
        None | Some(Type::F32) => functions::ex2(form, cpu),
        Some(_) => half::ex2(form, cpu),
    }
}

pub fn tanh(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    match form.first_type() {
        None | Some(Type::F32) => functions::tanh(form, cpu),
        Some(_) => half::tanh(form, cpu),
    }
}
