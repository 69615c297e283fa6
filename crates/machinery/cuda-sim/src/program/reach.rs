//! Who uses what: kernels and the functions and variables they reach.

use super::Program;
use super::error::LoadError;
use super::function::{Kernel, Param};
use super::layout::{Layout, bytes_of};
use crate::device::DeviceSpec;
use crate::ptx::ast::{self, AddressBase, Initializer, Operand, Space, Statement};
use std::collections::{BTreeSet, HashMap};

/// For each name at module scope, the kernels that mention it or call what mentions it.
pub fn users<'a>(module: &ast::Module<'a>) -> HashMap<&'a str, BTreeSet<&'a str>> {
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
    let mut users: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for kernel in module.functions.iter().filter(|function| function.entry) {
        let mut seen = BTreeSet::new();
        let mut open = vec![kernel.name];
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                users.entry(name).or_default().insert(kernel.name);
                open.extend(mentions.get(name).into_iter().flatten());
            }
        }
    }
    users
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

/// What the driver needs to know of a kernel whose code is in the program.
pub fn kernel(
    program: &Program,
    layout: &Layout,
    function: &ast::Function,
    device: &DeviceSpec,
) -> Result<Kernel, LoadError> {
    let mut params = Vec::new();
    let mut end = 0;
    for param in &function.params {
        let offset = u64::next_multiple_of(end, u64::from(param.align.max(1)));
        let size = bytes_of(param)?;
        end = offset + size;
        params.push(Param {
            offset: offset as u32,
            size: size as u32,
        });
    }
    if end > u64::from(device.max_parameter_bytes) {
        let message = format!(
            "kernel {} has {end} bytes of parameters, {} are allowed",
            function.name, device.max_parameter_bytes
        );
        return Err(LoadError::invalid(function.line, message));
    }
    let number = program
        .functions
        .iter()
        .position(|lowered| lowered.name == function.name)
        .ok_or_else(|| LoadError::invalid(function.line, "the kernel has no body"))?;
    let reached = Reached::from(program, number);
    Ok(Kernel {
        name: function.name.to_owned(),
        function: number,
        params,
        param_bytes: end as u32,
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

/// What a kernel's call graph adds up to.
#[derive(Default)]
struct Reached {
    local_bytes: u32,
    registers: u32,
    ordered: bool,
    unbounded: bool,
}

impl Reached {
    fn from(program: &Program, kernel: usize) -> Reached {
        let mut reached = Reached::default();
        let mut path = vec![false; program.functions.len()];
        let mut known = vec![None; program.functions.len()];
        reached.local_bytes = reached.visit(program, kernel, &mut path, &mut known);
        if reached.unbounded {
            // A pointer may name any function.
            for function in program
                .functions
                .iter()
                .filter(|function| !function.is_kernel)
            {
                reached.ordered |= function.ordered;
                reached.registers = reached.registers.max(function.registers);
            }
        }
        reached
    }

    /// Stack bytes of `number` and its deepest callee. Call depth is bounded by the number of
    /// functions, each visited once.
    fn visit(
        &mut self,
        program: &Program,
        number: usize,
        path: &mut [bool],
        known: &mut [Option<u32>],
    ) -> u32 {
        if path[number] {
            self.unbounded = true;
            return 0;
        }
        if let Some(bytes) = known[number] {
            return bytes;
        }
        let function = &program.functions[number];
        self.ordered |= function.ordered;
        self.unbounded |= function.calls_pointers;
        self.registers = self.registers.max(function.registers);
        path[number] = true;
        let deepest = function
            .calls
            .iter()
            .map(|&callee| self.visit(program, callee, path, known))
            .max()
            .unwrap_or(0);
        path[number] = false;
        let bytes = function
            .local_bytes
            .next_multiple_of(16)
            .saturating_add(deepest);
        known[number] = Some(bytes);
        bytes
    }
}
