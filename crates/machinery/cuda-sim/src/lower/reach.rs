//! Who uses what: kernels and the functions and variables they reach.

use super::error::LoadError;
use super::layout::Layout;
use super::{layout, limits};
use crate::device::DeviceSpec;
use crate::exec::sm::Program;
use crate::isa::Kernel;
use crate::ptx::ast;
use crate::ptx::ast::{AddressBase, Initializer, Operand, Space, Statement};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeSet, HashMap, HashSet};

/// For each name at module scope, the kernels that mention it or call what mentions it, by the order
/// in which they stand in the module.
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
                let message = "the module's kernels use so many functions and variables that it takes \
                     too long to find them all: make several modules of it";
                return Err(LoadError::invalid(kernel.line, message));
            }
        }
    }
    Ok(users)
}

/// What each function and each table of addresses mentions.
fn mentions<'a>(module: &ast::Module<'a>) -> HashMap<&'a str, BTreeSet<&'a str>> {
    let mut mentions: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for function in &module.functions {
        let names = mentions.entry(function.name).or_default();
        for statement in function.body.iter().flatten() {
            names_in(statement, names);
        }
    }
    for variable in &module.variables {
        // A table of function pointers mentions the functions.
        let symbols = variable.init.iter().filter_map(|value| match value {
            Initializer::Address { symbol, .. } => Some(*symbol),
            Initializer::Value(_) => None,
        });
        mentions.entry(variable.name).or_default().extend(symbols);
    }
    mentions
}

/// The shared variables declared in a function's body.
pub fn shared_in<'m, 'a>(function: &'m ast::Function<'a>) -> Vec<&'m ast::Variable<'a>> {
    fn collect<'m, 'a>(statement: &'m Statement<'a>, found: &mut Vec<&'m ast::Variable<'a>>) {
        match statement {
            Statement::Variable(variable) if variable.space == Space::Shared => {
                found.push(variable);
            }
            Statement::Block(inner) => inner.iter().for_each(|inner| collect(inner, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    function
        .body
        .iter()
        .flatten()
        .for_each(|statement| collect(statement, &mut found));
    found
}

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
        Operand::Vector(parts) | Operand::List(parts) => {
            for part in parts {
                names_of(part, names);
            }
        }
        _ => {}
    }
}

/// What the driver needs to know of a kernel whose code is the program's function `number`, and what
/// that reaches.
pub fn kernel(
    layout: &Layout,
    function: &ast::Function,
    number: usize,
    reached: &Reached,
    device: &DeviceSpec,
) -> Result<Kernel, LoadError> {
    let params = layout::parameters(function, device)?;
    Ok(Kernel {
        name: function.name.to_owned(),
        function: number,
        param_bytes: params.last().map_or(0, |last| last.offset + last.size),
        params,
        shared_bytes: layout.shared_bytes.get(function.name).copied().unwrap_or(0) as u32,
        local_bytes: reached.local_bytes,
        const_bytes: layout.constants.map_or(0, |(_, bytes)| bytes as u32),
        registers: reached.registers,
        max_threads: function.max_threads,
        required_threads: function.required_threads,
        ordered: reached.ordered,
        unbounded: reached.unbounded,
    })
}

/// What a function and all that it calls add up to.
#[derive(Debug, Clone, Default)]
pub struct Reached {
    /// Stack bytes of the function and its deepest callee; of functions that call each other in a
    /// circle, of each of them once.
    local_bytes: u32,
    registers: u32,
    ordered: bool,
    unbounded: bool,
}

impl Reached {
    /// Takes in what is called.
    fn add(&mut self, other: &Reached) {
        self.registers = self.registers.max(other.registers);
        self.ordered |= other.ordered;
        self.unbounded |= other.unbounded;
    }
}

/// What each of the program's functions reaches. Calls may be nested as deep as there are functions,
/// so nothing here calls itself.
pub fn reached(program: &Program) -> Vec<Reached> {
    let functions = &program.functions;
    let mut calls = DiGraph::<(), ()>::with_capacity(functions.len(), functions.len());
    let nodes: Vec<NodeIndex> = functions.iter().map(|_| calls.add_node(())).collect();
    for (number, function) in functions.iter().enumerate() {
        for &callee in &function.calls {
            calls.add_edge(nodes[number], nodes[callee], ());
        }
    }
    let mut all = vec![Reached::default(); functions.len()];
    let mut circle_of = vec![usize::MAX; functions.len()];
    // Whom a circle of functions calls comes before it.
    for (id, circle) in kosaraju_scc(&calls).into_iter().enumerate() {
        for node in &circle {
            circle_of[node.index()] = id;
        }
        let mut reached = Reached::default();
        let mut deepest = 0;
        for function in circle.iter().map(|node| &functions[node.index()]) {
            reached.local_bytes = reached
                .local_bytes
                .saturating_add(function.local_bytes.next_multiple_of(16));
            reached.add(&Reached {
                local_bytes: 0,
                registers: function.registers,
                ordered: function.ordered,
                unbounded: function.calls_pointers,
            });
            for &callee in &function.calls {
                // Nothing yet where the callee is of the circle.
                deepest = deepest.max(all[callee].local_bytes);
                reached.add(&all[callee]);
                reached.unbounded |= circle_of[callee] == id;
            }
        }
        reached.local_bytes = reached.local_bytes.saturating_add(deepest);
        for node in circle {
            all[node.index()] = reached.clone();
        }
    }
    // A pointer may name any function.
    let mut any = Reached::default();
    for function in functions.iter().filter(|function| !function.is_kernel) {
        any.ordered |= function.ordered;
        any.registers = any.registers.max(function.registers);
    }
    for reached in all.iter_mut().filter(|reached| reached.unbounded) {
        reached.add(&any);
    }
    all
}
