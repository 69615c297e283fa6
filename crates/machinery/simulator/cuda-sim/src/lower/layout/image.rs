//! The initial contents of variables.

use super::{Layout, Symbol};
use crate::lower::error::LoadError;
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP, SHARED_WINDOW};
use crate::ptx::ast::{Immediate, Initializer, Type, Variable};

/// Returns a variable's initial bytes. The image may be shorter than the variable; the remainder is zero.
pub fn image(layout: &Layout, variable: &Variable) -> Result<Vec<u8>, LoadError> {
    let size = variable.ty.bytes() as usize;
    let mut image = Vec::with_capacity(variable.init.len() * size);
    for value in &variable.init {
        let bits = match *value {
            Initializer::Value(immediate) => immediate_bits(immediate, variable.ty),
            Initializer::Address {
                symbol,
                addend,
                generic,
                mask,
            } => {
                let address = match layout.symbols.get(symbol) {
                    Some(Symbol::Global(address) | Symbol::Const(address)) => *address,
                    Some(Symbol::Shared(offset)) if generic => SHARED_WINDOW + offset,
                    Some(Symbol::Shared(offset)) => *offset,
                    Some(Symbol::Function(number)) => {
                        FUNCTION_BASE + *number as u64 * FUNCTION_STEP
                    }
                    Some(Symbol::DynamicShared { .. }) | None => {
                        let message = format!("`{symbol}` has no address here");
                        return Err(LoadError::invalid(variable.line, message));
                    }
                };
                let address = address.wrapping_add_signed(addend);
                match mask {
                    Some(mask) => (address & mask) >> mask.trailing_zeros(),
                    None => address,
                }
            }
        };
        image.extend_from_slice(&bits.to_le_bytes()[..size.min(8)]);
    }
    Ok(image)
}

/// Returns the bits of a literal converted to type `ty`.
pub fn immediate_bits(immediate: Immediate, ty: Type) -> u64 {
    match (immediate, ty) {
        (Immediate::Int(value), Type::F32) => u64::from((value as f32).to_bits()),
        (Immediate::Int(value), Type::F64) => (value as f64).to_bits(),
        (Immediate::Int(value), _) => value as u64,
        (Immediate::F32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::F32(bits), _) => u64::from(bits),
        (Immediate::F64(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Immediate::F64(bits), Type::F16) => {
            u64::from(half::f16::from_f64(f64::from_bits(bits)).to_bits())
        }
        (Immediate::F64(bits), _) => bits,
    }
}
