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
pub mod mixed;
pub mod pairs;
mod relation;
pub mod rounding;
mod value;

pub use form::{Form, FormError, Op, Select};

use super::cpu::Cpu;
use crate::ptx::ast::Type;

/// An instruction's selection functions for floats, for half precision, and for integers and all other types.
struct Families {
    float: Select,
    half: Select,
    integer: Select,
}

impl Families {
    fn select(self, form: &Form, cpu: Cpu) -> Result<Op, FormError> {
        let select = match form.first_type() {
            Some(Type::F32 | Type::F64) => self.float,
            Some(Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2) => self.half,
            _ => self.integer,
        };
        select(form, cpu)
    }
}

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if mixed::is_mixed(form) {
        return mixed::add(form, cpu);
    }
    match form.first_type() {
        Some(Type::U16x2 | Type::S16x2) => return pairs::add(form, cpu),
        Some(Type::F32x2) => return pairs::add_singles(form, cpu),
        _ => {}
    }
    if form.contains("cc") {
        return carry::add(form, cpu);
    }
    let families = Families {
        float: float::add,
        half: half::add,
        integer: integer::add,
    };
    families.select(form, cpu)
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if mixed::is_mixed(form) {
        return mixed::sub(form, cpu);
    }
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::sub_singles(form, cpu);
    }
    if form.contains("cc") {
        return carry::sub(form, cpu);
    }
    let families = Families {
        float: float::sub,
        half: half::sub,
        integer: integer::sub,
    };
    families.select(form, cpu)
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::mul_singles(form, cpu);
    }
    let families = Families {
        float: float::mul,
        half: half::mul,
        integer: integer::mul,
    };
    families.select(form, cpu)
}

pub fn mad(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.contains("cc") {
        return carry::mad(form, cpu);
    }
    let families = Families {
        float: float::fma,
        half: half::unsupported,
        integer: integer::mad,
    };
    families.select(form, cpu)
}

/// Selects `fma`. It does not exist for integers, for which [`float::fma`] reports the error.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if mixed::is_mixed(form) {
        return mixed::fma(form, cpu);
    }
    if let Some(Type::F32x2) = form.first_type() {
        return pairs::fma_singles(form, cpu);
    }
    let families = Families {
        float: float::fma,
        half: half::fma,
        integer: float::fma,
    };
    families.select(form, cpu)
}

pub fn div(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let families = Families {
        float: functions::div,
        half: half::unsupported,
        integer: integer::div,
    };
    families.select(form, cpu)
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.operand_lengths.len() == 4 {
        return float::min(form, cpu);
    }
    if let Some(Type::U16x2 | Type::S16x2) = form.first_type() {
        return pairs::min(form, cpu);
    }
    let families = Families {
        float: float::min,
        half: half::min,
        integer: integer::min,
    };
    families.select(form, cpu)
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.operand_lengths.len() == 4 {
        return float::max(form, cpu);
    }
    if let Some(Type::U16x2 | Type::S16x2) = form.first_type() {
        return pairs::max(form, cpu);
    }
    let families = Families {
        float: float::max,
        half: half::max,
        integer: integer::max,
    };
    families.select(form, cpu)
}

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let families = Families {
        float: float::abs,
        half: half::abs,
        integer: integer::abs,
    };
    families.select(form, cpu)
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let families = Families {
        float: float::neg,
        half: half::neg,
        integer: integer::neg,
    };
    families.select(form, cpu)
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
