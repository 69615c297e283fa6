//! Elements of arrays as operands (`table[2]`), made into addresses. Source: PTX ISA section 6.4.2: `mov` takes an
//! element's address, and what reaches memory reaches the element.

use super::error::LoadError;
use crate::ptx::ast::{AddressBase, Function, Instruction, Module, Operand, Statement, Variable};
use std::collections::HashMap;

/// The arrays that can be seen somewhere, by name: the bytes of an element, where there is one dimension.
type Arrays<'a> = HashMap<&'a str, Option<u64>>;

/// Instructions whose operand of this form is an address as a value; all others go to memory there.
const VALUES: [&str; 2] = ["mov", "cvta"];

/// Makes addresses of all elements.
///
/// # Errors
/// An element of what is no array of one dimension.
pub fn resolve(module: &mut Module) -> Result<(), LoadError> {
    let mut outer = Arrays::new();
    outer.extend(module.variables.iter().map(array));
    for function in &mut module.functions {
        let Function { params, body, .. } = function;
        let mut arrays = outer.clone();
        arrays.extend(params.iter().map(array));
        if let Some(body) = body {
            in_block(body, &arrays)?;
        }
    }
    Ok(())
}

fn array<'a>(variable: &Variable<'a>) -> (&'a str, Option<u64>) {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    (variable.name, (variable.dims.len() == 1).then_some(element))
}

fn in_block<'a>(block: &mut [Statement<'a>], outer: &Arrays<'a>) -> Result<(), LoadError> {
    if !has_items(block) {
        return Ok(());
    }
    let mut arrays = outer.clone();
    for statement in block {
        match statement {
            Statement::Variable(variable) => {
                arrays.extend([array(variable)]);
            }
            Statement::Block(inner) => in_block(inner, &arrays)?,
            Statement::Instruction(instruction) => in_instruction(instruction, &arrays)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether there is an element of an array somewhere in it: hardly any module has one.
fn has_items(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Block(inner) => has_items(inner),
        Statement::Instruction(instruction) => {
            let mut operands = instruction.operands.iter();
            operands.any(|operand| matches!(operand, Operand::Item { .. }))
        }
        _ => false,
    })
}

fn in_instruction<'a>(
    instruction: &mut Instruction<'a>,
    arrays: &Arrays<'a>,
) -> Result<(), LoadError> {
    let is_value = VALUES.contains(&instruction.mnemonic);
    let line = instruction.line;
    for operand in &mut instruction.operands {
        let &mut Operand::Item { array, index } = operand else {
            continue;
        };
        let Some(&Some(element)) = arrays.get(array) else {
            let message = format!("`{array}` is no array of one dimension");
            return Err(LoadError::invalid(line, message));
        };
        let offset = index.wrapping_mul(element as i64);
        *operand = match is_value {
            true => Operand::Name {
                name: array,
                offset,
            },
            false => Operand::Address {
                base: AddressBase::Name(array),
                offset,
            },
        };
    }
    Ok(())
}
