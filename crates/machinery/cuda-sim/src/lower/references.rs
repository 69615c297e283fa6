//! References to names at module scope, and the kernels that use each name directly or indirectly.

use super::error::LoadError;
use super::limits;
use crate::ptx::ast;
use crate::ptx::ast::{AddressBase, Initializer, Operand, StateSpace, Statement};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Returns, for each name at module scope, the kernels that reference it directly or through callees,
/// numbered in module order. Fails if the module's kernels reference too many names in total.
pub fn users<'a>(module: &ast::Module<'a>) -> Result<HashMap<&'a str, Vec<usize>>, LoadError> {
    let mentions = mentions(module);
    let mut users: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut reached = 0;
    let kernels = module.functions.iter().filter(|function| function.entry);
    for (number, kernel) in kernels.enumerate() {
        let mut seen = HashSet::new();
        let mut open = vec![kernel.name];
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                users.entry(name).or_default().push(number);
                open.extend(mentions.get(name).into_iter().flatten());
            }
            reached += 1;
            if reached > limits::REACHED {
                let message = "the module's kernels reference too many functions and variables to analyze: \
                     split it into several modules";
                return Err(LoadError::invalid(kernel.line, message));
            }
        }
    }
    Ok(users)
}

/// Returns the names referenced by each function and by each variable whose initializer contains addresses.
fn mentions<'a>(module: &ast::Module<'a>) -> HashMap<&'a str, BTreeSet<&'a str>> {
    let mut mentions: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for function in &module.functions {
        let names = mentions.entry(function.name).or_default();
        for statement in function.body.iter().flatten() {
            names_in(statement, names);
        }
    }
    for alias in &module.aliases {
        mentions
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
        mentions.entry(variable.name).or_default().extend(symbols);
    }
    mentions
}

/// Returns the variables of a state space that a function's body declares.
pub fn variables_in<'m, 'a>(
    function: &'m ast::Function<'a>,
    space: StateSpace,
) -> Vec<&'m ast::Variable<'a>> {
    let mut found = Vec::new();
    // The parser limits the nesting of scopes.
    let mut open: Vec<_> = function.body.iter().map(|body| body.iter()).collect();
    while let Some(statements) = open.last_mut() {
        match statements.next() {
            Some(Statement::Variable(variable)) if variable.space == space => found.push(variable),
            Some(Statement::Block(inner)) => open.push(inner.iter()),
            Some(_) => {}
            None => _ = open.pop(),
        }
    }
    found
}

/// Adds the names that a statement references.
fn names_in<'a>(statement: &Statement<'a>, names: &mut BTreeSet<&'a str>) {
    match statement {
        Statement::Instruction(instruction) => {
            for operand in &instruction.operands {
                names_of(operand, names);
            }
        }
        Statement::Block(inner) => {
            for statement in inner {
                names_in(statement, names);
            }
        }
        Statement::CallTargets { functions, .. } => names.extend(functions),
        _ => {}
    }
}

/// Adds the names that an operand references.
fn names_of<'a>(operand: &Operand<'a>, names: &mut BTreeSet<&'a str>) {
    match operand {
        // Registers are never at module scope.
        Operand::Name { name, .. }
        | Operand::Address {
            base: AddressBase::Name(name),
            ..
        } if !name.starts_with('%') => {
            names.insert(name);
        }
        Operand::Vector(parts) | Operand::List(parts) | Operand::TextureCoordinates { coordinates: parts, .. } => {
            for part in parts {
                names_of(part, names);
            }
        }
        _ => {}
    }
}
