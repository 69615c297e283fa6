//! The layout of shared variables, which depends on the kernels that use each of them directly or indirectly.

use super::{Layout, Symbol, bytes_of, in_space, names_of};
use crate::device::DeviceSpec;
use crate::isa::ExternArrays;
use crate::isa::check_event::SharedArray;
use crate::lower::error::LoadError;
use crate::lower::limits;
use crate::ptx::ast;
use crate::ptx::ast::{
    AddressBase, Initializer, Instruction, Linkage, Operand, StateSpace, Statement, Variable,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Records the size and the name of a shared variable at an offset, and the kernels that use it.
fn record<'a>(
    layout: &mut Layout,
    key: (String, String),
    (offset, bytes): (u64, u64),
    users: impl Iterator<Item = &'a str>,
) {
    let name = layout.shared_names.len() as u32;
    layout.shared_names.push(source_name(&key.1).to_owned());
    layout.shared_sizes.insert(key, (bytes, name));
    let (Ok(start), Ok(end)) = (u32::try_from(offset), u32::try_from(offset + bytes)) else {
        return;
    };
    for kernel in users {
        let variables = layout.shared_variables.entry(kernel.to_owned());
        (variables.or_default()).push(SharedArray { start, end, name });
    }
}

/// Returns the name in the source of a variable whose C++ symbol is mangled, such as `tile` for
/// `_ZZ3addPfE4tile`: the last name in it, before a discriminator (`_0`). Returns other symbols unchanged.
fn source_name(symbol: &str) -> &str {
    let is_start = |&start: &usize| symbol.as_bytes()[start].is_ascii_digit();
    let name_at = |start: usize| {
        let text = symbol.get(start..)?;
        let name = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let length: usize = text[..text.len() - name.len()].parse().ok()?;
        let (name, rest) = name.split_at_checked(length)?;
        let is_last = rest.is_empty() || rest.starts_with('_');
        (is_last && !name.is_empty()).then_some(name)
    };
    let mut names = (0..symbol.len()).filter(is_start).filter_map(name_at);
    match symbol.starts_with("_Z") {
        true => names.next().unwrap_or(symbol),
        false => symbol,
    }
}

/// Places the shared variables. Two variables may overlap if no kernel uses both, as with NVIDIA's assembler,
/// so that a module may contain many kernels with large tiles.
pub fn place_shared(
    layout: &mut Layout,
    module: &ast::Module,
    device: &DeviceSpec,
) -> Result<(), LoadError> {
    let users = kernels_by_name(module)?;
    let kernels = module.functions.iter().filter(|function| function.entry);
    let mut allocator = SharedAllocator::new(kernels.map(|kernel| kernel.name).collect());
    let kernels_of = |name: &str| users.get(name).map_or(&[][..], Vec::as_slice);
    let mut extern_arrays: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for variable in in_space(module, StateSpace::Shared) {
        let unsized_array = variable.dims.first() == Some(&0);
        if variable.linkage == Linkage::Extern && unsized_array {
            let align = variable.align;
            layout.define(
                variable.name,
                Symbol::DynamicShared { align },
                variable.line,
            )?;
            for &kernel in kernels_of(variable.name) {
                extern_arrays.entry(kernel).or_default().push(variable.name);
            }
            continue;
        }
        // A sized `.extern` variable is placed like any other, as the driver's assembler does.
        let names = names_of(variable);
        let mut kernels: Vec<usize> = names
            .iter()
            .flat_map(|(name, _)| kernels_of(name))
            .copied()
            .collect();
        kernels.sort_unstable();
        kernels.dedup();
        let start = allocator.place(variable, &kernels)?;
        for (name, offset) in names {
            layout.define(&name, Symbol::Shared(start + offset), variable.line)?;
            let bytes = match variable.is_range {
                true => variable.element_bytes(),
                false => bytes_of(variable)?,
            };
            let key = (String::new(), name.into_owned());
            let users = kernels
                .iter()
                .map(|&kernel| allocator.kernels[kernel].kernel);
            record(layout, key, (start + offset, bytes), users);
        }
    }
    for function in &module.functions {
        for variable in function_variables(function, StateSpace::Shared) {
            let kernels = kernels_of(function.name);
            let offset = allocator.place(variable, kernels)?;
            let key = (function.name.to_owned(), variable.name.to_owned());
            let bytes = bytes_of(variable)?;
            let users = kernels
                .iter()
                .map(|&kernel| allocator.kernels[kernel].kernel);
            record(layout, key.clone(), (offset, bytes), users);
            if layout.function_shared.insert(key, offset).is_some() {
                let message = format!("`{}` is defined twice", variable.name);
                return Err(LoadError::invalid(variable.line, message));
            }
        }
    }
    layout.shared_bytes = allocator.bytes();
    let kernels: Vec<_> = module
        .functions
        .iter()
        .filter(|function| function.entry)
        .collect();
    layout.extern_arrays = extern_arrays
        .into_iter()
        .filter(|(_, arrays)| arrays.len() > 1)
        .map(|(kernel, arrays)| {
            (
                kernels[kernel].name.to_owned(),
                overlapping(kernels[kernel], &arrays),
            )
        })
        .collect();
    let limit = u64::from(device.shared_per_block);
    match layout
        .shared_bytes
        .iter()
        .filter(|(_, bytes)| **bytes > limit)
        .min()
    {
        Some((kernel, &needed)) => Err(LoadError::SharedMemory {
            kernel: kernel.clone(),
            needed,
            limit,
        }),
        None => Ok(()),
    }
}

/// Returns the description of several `extern` arrays of a kernel.
fn overlapping(kernel: &ast::Function, arrays: &[&str]) -> ExternArrays {
    let last = arrays.last().copied().unwrap_or_default();
    let mut instructions = Vec::new();
    collect_instructions(
        kernel.body.as_deref().unwrap_or_default(),
        &mut instructions,
    );
    let uses_last = |instruction: &&&Instruction| {
        let mut names = BTreeSet::new();
        for operand in &instruction.operands {
            collect_from_operand(operand, &mut names);
        }
        names.contains(last)
    };
    let used_at = instructions.iter().find(uses_last).or(instructions.first());
    ExternArrays {
        names: arrays
            .iter()
            .map(|name| source_name(name).to_owned())
            .collect(),
        used_at: used_at.map_or((kernel.line, None), |used| (used.line, used.location)),
    }
}

/// Appends the instructions of a function's statements.
fn collect_instructions<'m, 'a>(
    statements: &'m [Statement<'a>],
    instructions: &mut Vec<&'m Instruction<'a>>,
) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => instructions.push(instruction),
            // The parser limits the nesting of scopes.
            Statement::Block(inner) => collect_instructions(inner, instructions),
            _ => {}
        }
    }
}

/// The shared memory of all kernels while variables are placed.
struct SharedAllocator<'a> {
    kernels: Vec<KernelShared<'a>>,
}

/// The occupied ranges of one kernel's shared memory.
struct KernelShared<'a> {
    kernel: &'a str,
    /// The start and end offset of each variable, in ascending order.
    occupied: Vec<(u64, u64)>,
}

impl<'a> SharedAllocator<'a> {
    fn new(kernels: Vec<&'a str>) -> Self {
        let used = |kernel| KernelShared {
            kernel,
            occupied: Vec::new(),
        };
        Self {
            kernels: kernels.into_iter().map(used).collect(),
        }
    }

    /// Places a variable at the lowest offset that is free in all of the given kernels. Fails if a kernel has
    /// too many shared variables.
    fn place(&mut self, variable: &Variable, kernels: &[usize]) -> Result<u64, LoadError> {
        let bytes = bytes_of(variable)?;
        let align = u64::from(variable.align.max(1));
        let mut occupied: Vec<(u64, u64)> = Vec::new();
        for &kernel in kernels {
            occupied.extend(&self.kernels[kernel].occupied);
        }
        occupied.sort_unstable();
        let mut offset = 0;
        for (from, to) in occupied {
            if offset < to && from < offset + bytes {
                // One step adds less than 2⁴⁸ + 2³² bytes, so clamping the total here keeps it from
                // overflowing.
                offset = to.next_multiple_of(align).min(1 << 62);
            }
        }
        let range = (offset, offset + bytes);
        for &kernel in kernels {
            let KernelShared { kernel, occupied } = &mut self.kernels[kernel];
            if occupied.len() == limits::SHARED_VARIABLES {
                let message = format!(
                    "kernel {kernel} has more than {} shared variables: combine them into arrays",
                    limits::SHARED_VARIABLES
                );
                return Err(LoadError::invalid(variable.line, message));
            }
            occupied.insert(occupied.partition_point(|&other| other < range), range);
        }
        Ok(offset)
    }

    /// Returns the bytes of shared memory per kernel, by name. Kernels without shared variables are left out.
    fn bytes(&self) -> HashMap<String, u64> {
        let used = self.kernels.iter().filter(|used| !used.occupied.is_empty());
        used.map(|used| {
            let ends = used.occupied.iter().map(|&(_, to)| to);
            (used.kernel.to_owned(), ends.max().unwrap_or(0))
        })
        .collect()
    }
}

/// Returns, for each name at module scope, the kernels that reference it directly or through callees,
/// numbered in module order. Fails if the module's kernels reference too many names in total.
fn kernels_by_name<'a>(
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
            base: AddressBase::Name(name) | AddressBase::Indexed { array: name, .. },
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

#[cfg(test)]
mod tests {
    use super::source_name;

    #[test]
    fn names_of_mangled_variables_are_the_last_ones() {
        for (symbol, name) in [
            ("_ZZ6secondPKfS0_PfE1s", "s"),
            ("_ZZ3addPfE6tile_a", "tile_a"),
            ("_ZZ3addPfE4tile_0", "tile"),
            ("_ZL6buffer", "buffer"),
            ("tile2x", "tile2x"),
            ("_Zoo", "_Zoo"),
        ] {
            assert_eq!(source_name(symbol), name, "{symbol}");
        }
    }
}
