//! The layout of shared variables.

use super::{Layout, Symbol, bytes_of, in_space};
use crate::device::DeviceSpec;
use crate::lower::error::LoadError;
use crate::lower::{limits, references};
use crate::ptx::ast;
use crate::ptx::ast::{Linkage, StateSpace, Variable};
use std::collections::HashMap;

/// Places the shared variables. Two variables may overlap if no kernel uses both, as with NVIDIA's assembler,
/// so that a module may contain many kernels with large tiles.
pub fn place_shared(
    layout: &mut Layout,
    module: &ast::Module,
    device: &DeviceSpec,
) -> Result<(), LoadError> {
    let users = references::users(module)?;
    let kernels = module.functions.iter().filter(|function| function.entry);
    let mut shelf = SharedShelf::new(kernels.map(|kernel| kernel.name).collect());
    let of = |name: &str| users.get(name).map_or(&[][..], Vec::as_slice);
    for variable in in_space(module, StateSpace::Shared) {
        let unsized_array = variable.dims.first() == Some(&0);
        if variable.linkage == Linkage::Extern && unsized_array {
            let align = variable.align;
            layout.define(
                variable.name,
                Symbol::DynamicShared { align },
                variable.line,
            )?;
            continue;
        }
        // A sized `.extern` variable is placed like any other, as the driver's assembler does.
        let place = shelf.place(variable, of(variable.name))?;
        layout.define(variable.name, Symbol::Shared(place), variable.line)?;
        let key = (String::new(), variable.name.to_owned());
        layout.shared_sizes.insert(key, bytes_of(variable)?);
    }
    for function in &module.functions {
        for variable in references::variables_in(function, StateSpace::Shared) {
            let place = shelf.place(variable, of(function.name))?;
            let key = (function.name.to_owned(), variable.name.to_owned());
            let bytes = bytes_of(variable)?;
            layout.shared_sizes.insert(key.clone(), bytes);
            if layout.function_shared.insert(key, place).is_some() {
                let message = format!("`{}` is defined twice", variable.name);
                return Err(LoadError::invalid(variable.line, message));
            }
        }
    }
    layout.shared_bytes = shelf.bytes();
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

/// The shared memory of all kernels while variables are placed.
struct SharedShelf<'a> {
    kernels: Vec<UsedShared<'a>>,
}

/// The occupied ranges of one kernel's shared memory.
struct UsedShared<'a> {
    kernel: &'a str,
    /// The start and end offset of each variable, in ascending order.
    taken: Vec<(u64, u64)>,
}

impl<'a> SharedShelf<'a> {
    fn new(kernels: Vec<&'a str>) -> Self {
        let used = |kernel| UsedShared {
            kernel,
            taken: Vec::new(),
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
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for &kernel in kernels {
            taken.extend(&self.kernels[kernel].taken);
        }
        taken.sort_unstable();
        let mut place = 0;
        for (from, to) in taken {
            if place < to && from < place + bytes {
                // One step adds less than 2⁴⁸ + 2³² bytes, so clamping the total here keeps it from
                // overflowing.
                place = to.next_multiple_of(align).min(1 << 62);
            }
        }
        let own = (place, place + bytes);
        for &kernel in kernels {
            let UsedShared { kernel, taken } = &mut self.kernels[kernel];
            if taken.len() == limits::SHARED_VARIABLES {
                let message = format!(
                    "kernel {kernel} has more than {} shared variables: combine them into arrays",
                    limits::SHARED_VARIABLES
                );
                return Err(LoadError::invalid(variable.line, message));
            }
            taken.insert(taken.partition_point(|&other| other < own), own);
        }
        Ok(place)
    }

    /// Returns the bytes of shared memory per kernel, by name. Kernels without shared variables are left out.
    fn bytes(&self) -> HashMap<String, u64> {
        let used = self.kernels.iter().filter(|used| !used.taken.is_empty());
        used.map(|used| {
            let ends = used.taken.iter().map(|&(_, to)| to);
            (used.kernel.to_owned(), ends.max().unwrap_or(0))
        })
        .collect()
    }
}
