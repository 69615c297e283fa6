//! What each PTX instruction does to a warp's registers: the instruction set as a table from
//! written form to lane operation, one file a family.

mod bits;
mod carry;
mod catalogue;
mod compare;
mod convert;
mod float;
mod form;
mod half;
mod integer;
mod logic;
mod moves;
pub(super) mod rounding;
mod special;
mod value;

#[cfg(test)]
pub mod tests;

pub use catalogue::{Known, catalogue};
pub use form::{Form, FormError, Op};

use super::cpu::Cpu;
use crate::ptx::ast::Type;

/// Finds the operation a written form names: `mul.wide.s32`, `cvt.rzi.s32.f32`.
///
/// Answers `Ok(None)` where no family knows the mnemonic (memory and control flow are lowered
/// elsewhere), and an error where the family knows it but not with these modifiers.
pub fn select(form: &Form, cpu: Cpu) -> Result<Option<Op>, FormError> {
    let family = match form.mnemonic {
        "addc" | "subc" | "madc" => carry::select,
        "add" | "sub" | "mad" if form.shows("cc") => carry::select,
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "abs" | "neg" | "min" | "max" => {
            match form.first_type() {
                Some(Type::F32 | Type::F64) => float::select,
                Some(Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2) => half::select,
                _ if form.mnemonic == "fma" => float::select,
                _ => integer::select,
            }
        }
        "rem" | "sad" | "mul24" | "mad24" | "dp4a" | "dp2a" => integer::select,
        "popc" | "clz" | "bfind" | "fns" | "brev" | "bfe" | "bfi" | "bmsk" | "szext" => {
            bits::select
        }
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shf" | "shl" | "shr" | "prmt" => {
            logic::select
        }
        "rcp" | "sqrt" | "rsqrt" | "copysign" | "testp" => float::select,
        "sin" | "cos" | "ex2" | "lg2" | "tanh" => special::select,
        "setp" | "set" | "selp" | "slct" => compare::select,
        "cvt" => convert::select,
        "mov" => moves::select,
        _ => return Ok(None),
    };
    family(form, cpu).map(Some)
}
