//! The layout of constant variables.

use super::{Layout, Symbol, bytes_of, in_space, refuse_extern};
use crate::lower::error::LoadError;
use crate::memory::global::Global;
use crate::ptx::ast;
use crate::ptx::ast::StateSpace;

/// The size of a module's constant memory in bytes.
const CONSTANT_BYTES: u64 = 64 * 1024;

/// Places all constants in one bank, in declaration order, each at its alignment.
pub fn place_constants(
    layout: &mut Layout,
    module: &ast::Module,
    global: &mut Global,
) -> Result<(), LoadError> {
    let mut end = 0;
    let mut placements = Vec::new();
    for variable in in_space(module, StateSpace::Const) {
        refuse_extern(variable)?;
        let bytes = bytes_of(variable)?;
        let offset = u64::next_multiple_of(end, u64::from(variable.align.max(1)));
        // One step adds less than 2⁴⁸ + 2³² bytes, so clamping the total here keeps it from overflowing.
        end = (offset + bytes).min(1 << 62);
        placements.push((variable, offset, bytes));
    }
    if end > CONSTANT_BYTES {
        return Err(LoadError::ConstantMemory {
            needed: end,
            limit: CONSTANT_BYTES,
        });
    }
    if placements.is_empty() {
        return Ok(());
    }
    let bytes = end.max(1);
    let base = global
        .allocate(bytes)
        .map_err(|_| LoadError::OutOfMemory(bytes))?;
    global.name(base, "constants");
    layout.allocations.push(base);
    layout.constants = Some((base, bytes));
    for (variable, offset, bytes) in placements {
        layout.define(variable.name, Symbol::Const(base + offset), variable.line)?;
        layout
            .visible
            .insert(variable.name.to_owned(), (base + offset, bytes));
    }
    Ok(())
}
