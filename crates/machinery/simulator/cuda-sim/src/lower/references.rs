//! References to names at module scope, and the kernels that use each name directly or indirectly.

use super::error::LoadError;
use super::limits;
use crate::ptx::ast;
use crate::ptx::ast::{AddressBase, Initializer, Operand, StateSpace, Statement};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Returns, for each name at module scope, the kernels that reference it directly or through callees,
/// numbered in module order. Fails if the module's kernels reference too many names in total.
pub fn kernels_by_name<'a>(
    module: &ast::Module<'a>,
) -> Result<HashMap<&'a str, Vec<usize>>, LoadError> {
    let references = references(module);
    let mut kernels_by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut reference_count = 0;
    let kernels = module.functions.iter().filter(|function| function.entry);
    for (number, kernel) in kernels.enumerate() {
        let mut seen = HashSet::new();
        let mut worklist = vec![kernel.name];
        while let Some(name) = worklist.pop() {
            if seen.insert(name) {
                kernels_by_name.entry(name).or_default().push(number);
                worklist.extend(references.get(name).into_iter().flatten());
            }
            reference_count += 1;
            if reference_count > limits::REFERENCES {
                let message = "the module's kernels reference too many functions and variables to analyze: \
                     split it into several modules";
                return Err(LoadError::invalid(kernel.line, message));
            }
        }
    }
    Ok(kernels_by_name)
}

/// Returns the names referenced by each function and by each variable whose initializer contains addresses.
fn references<'a>(module: &ast::Module<'a>) -> HashMap<&'a str, BTreeSet<&'a str>> {
    let mut references: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for function in &module.functions {
        let names = references.entry(function.name).or_default();
        for statement in function.body.iter().flatten() {
            collect_from_statement(statement, names);
        }
    }
    for alias in &module.aliases {
        references
            .entry(alias.name)
            .or_default()
            .insert(alias.function);
    }
    for variable in &module.variables {
        // A table of function pointers references the functions.
        let symbols = variable.init.iter().filter_map(|value| match value {
            Initializer::Address { symbol, .. } => Some(*symbol),
            Initializer::Value(_) => None,
        });
        references.entry(variable.name).or_default().extend(symbols);
    }
    references
}

/// Returns the variables of a state space that a function's body declares.
pub fn function_variables<'m, 'a>(
    function: &'m ast::Function<'a>,
    space: StateSpace,
) -> Vec<&'m ast::Variable<'a>> {
    let mut list = Vec::new();
    // The parser limits the nesting of scopes.
    let mut worklist: Vec<_> = function.body.iter().map(|body| body.iter()).collect();
    while let Some(statements) = worklist.last_mut() {
        match statements.next() {
            Some(Statement::Variable(variable)) if variable.space == space => list.push(variable),
            Some(Statement::Block(inner)) => worklist.push(inner.iter()),
            Some(_) => {}
            None => _ = worklist.pop(),
        }
    }
    list
}

/// Adds the names that a statement references.
fn collect_from_statement<'a>(statement: &Statement<'a>, names: &mut BTreeSet<&'a str>) {
    match statement {
        Statement::Instruction(instruction) => {
            for operand in &instruction.operands {
                collect_from_operand(operand, names);
            }
        }
        Statement::Block(inner) => {
            for statement in inner {
                collect_from_statement(statement, names);
            }
        }
        Statement::CallTargets { functions, .. } => names.extend(functions),
        _ => {}
    }
}

/// Adds the names that an operand references.
fn collect_from_operand<'a>(operand: &Operand<'a>, names: &mut BTreeSet<&'a str>) {
    match operand {
        // Registers are never at module scope.
        Operand::Name { name, .. }
        | Operand::Address {
            base: AddressBase::Name(name),
            ..
        } if !name.starts_with('%') => {
            names.insert(name);
        }
        Operand::Vector(parts)
        | Operand::List(parts)
        | Operand::TextureCoordinates {
            coordinates: parts, ..
        } => {
            for part in parts {
                collect_from_operand(part, names);
            }
        }
        _ => {}
    }
}
