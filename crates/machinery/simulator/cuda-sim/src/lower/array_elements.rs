//! Array elements as operands (`table[2]`, `table[%r1+2]`), rewritten as addresses. PTX ISA section 6.4.2: `mov` takes the
//! address of the element; an instruction that accesses memory accesses the element.

use super::error::LoadError;
use crate::ptx::ast::{AddressBase, Function, Instruction, Module, Operand, Statement, Variable};
use std::collections::HashMap;

/// The visible arrays by name, with the element size in bytes if the array has one dimension.
type Arrays<'a> = HashMap<&'a str, Option<u64>>;

/// Instructions that take such an operand as an address value; all others access memory.
const ADDRESS_VALUE_INSTRUCTIONS: [&str; 2] = ["mov", "cvta"];

/// Rewrites all array-element operands as addresses.
///
/// # Errors
/// Fails if the array is not declared or does not have exactly one dimension.
pub fn resolve(module: &mut Module) -> Result<(), LoadError> {
    let mut outer = Arrays::new();
    outer.extend(module.variables.iter().map(array));
    for function in &mut module.functions {
        let Function { params, body, .. } = function;
        let mut arrays = outer.clone();
        arrays.extend(params.iter().map(array));
        if let Some(body) = body {
            resolve_block(body, &arrays)?;
        }
    }
    Ok(())
}

fn array<'a>(variable: &Variable<'a>) -> (&'a str, Option<u64>) {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    (
        variable.name,
        (variable.dims.len() == 1 && !variable.is_range).then_some(element),
    )
}

fn resolve_block<'a>(block: &mut [Statement<'a>], outer: &Arrays<'a>) -> Result<(), LoadError> {
    if !has_array_elements(block) {
        return Ok(());
    }
    let mut arrays = outer.clone();
    for statement in block {
        match statement {
            Statement::Variable(variable) => {
                arrays.extend([array(variable)]);
            }
            Statement::Block(inner) => resolve_block(inner, &arrays)?,
            Statement::Instruction(instruction) => resolve_instruction(instruction, &arrays)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns true if the block contains an array-element operand. Few modules do, so this avoids cloning scopes.
fn has_array_elements(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Block(inner) => has_array_elements(inner),
        Statement::Instruction(instruction) => {
            let mut operands = instruction.operands.iter();
            operands.any(|operand| matches!(operand, Operand::ArrayElement { .. }))
        }
        _ => false,
    })
}

fn resolve_instruction<'a>(
    instruction: &mut Instruction<'a>,
    arrays: &Arrays<'a>,
) -> Result<(), LoadError> {
    let is_value = ADDRESS_VALUE_INSTRUCTIONS.contains(&instruction.mnemonic);
    let line = instruction.line;
    for operand in &mut instruction.operands {
        let &mut Operand::ArrayElement {
            array,
            register,
            index,
        } = operand
        else {
            continue;
        };
        let Some(&Some(element)) = arrays.get(array) else {
            let message = format!("`{array}` is not a one-dimensional array");
            return Err(LoadError::invalid(line, message));
        };
        let offset = index.wrapping_mul(element as i64);
        *operand = match register {
            None if is_value => Operand::Name {
                name: array,
                offset,
            },
            None => Operand::Address {
                base: AddressBase::Name(array),
                offset,
            },
            Some(register) => Operand::Address {
                base: AddressBase::Indexed {
                    array,
                    register,
                    element_bytes: element,
                },
                offset,
            },
        };
    }
    Ok(())
}
