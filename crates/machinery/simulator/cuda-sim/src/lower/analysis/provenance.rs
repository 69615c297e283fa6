//! Address provenance: the shared-memory array from whose address each access's address was computed.
//!
//! An index that is too large reaches into the next array. Hardware cannot detect this, because an address
//! does not carry its provenance. The sanitizer can, as long as the address is a sum that involves one
//! array's address.

use crate::isa::check_event::SharedArray;
use crate::isa::{AccessKind, Memory};
use crate::lower::ir::{Arithmetic, IrInst};
use crate::lower::limits;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::HashMap;

/// The provenance of the values that a register may hold: a lattice with `Undefined` at the bottom and
/// `Ambiguous` at the top.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provenance {
    /// No definition has been evaluated yet.
    Undefined,
    /// A number or another value that is not derived from an array's address.
    Number,
    Array(SharedArray),
    /// Derived from different arrays, or unknown.
    Ambiguous,
}

/// Returns, for each instruction, the array that its access belongs to; `None` if it does not access shared
/// memory or the provenance is unknown. `bases` maps the registers that receive an array's address to the
/// array.
pub fn target_arrays(
    insts: &[IrInst],
    registers: &[RegisterInfo],
    bases: &HashMap<Register, SharedArray>,
) -> Vec<Option<SharedArray>> {
    let mut target_arrays = vec![None; insts.len()];
    if bases.is_empty() {
        return target_arrays;
    }
    let literal = |info: &RegisterInfo| match info.literal {
        Some(_) => Provenance::Number,
        None => Provenance::Undefined,
    };
    let mut provenance: Vec<Provenance> = registers.iter().map(literal).collect();
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += insts.len();
        if steps > limits::STEPS {
            return target_arrays;
        }
        for inst in insts {
            for def in &inst.defs {
                let new = match bases.get(def) {
                    Some(&array) => Provenance::Array(array),
                    None => provenance_of_result(inst, registers, &provenance),
                };
                let current = &mut provenance[def.0 as usize];
                let joined = join(*current, new);
                changed |= *current != joined;
                *current = joined;
            }
        }
    }
    for (target_array, inst) in target_arrays.iter_mut().zip(insts) {
        let Some(access) = inst.access else {
            continue;
        };
        if access.memory == Memory::Shared
            && access.kind != AccessKind::MatrixLoad
            && let Provenance::Array(array) = provenance[inst.operands[access.address].0 as usize]
        {
            *target_array = Some(array);
        }
    }
    target_arrays
}

/// Joins the provenances of two definitions of a register.
fn join(a: Provenance, b: Provenance) -> Provenance {
    match (a, b) {
        (Provenance::Undefined, current) | (current, Provenance::Undefined) => current,
        _ if a == b => a,
        _ => Provenance::Ambiguous,
    }
}

/// Returns the provenance of an instruction's result.
fn provenance_of_result(
    inst: &IrInst,
    registers: &[RegisterInfo],
    provenance: &[Provenance],
) -> Provenance {
    if inst.access.is_some() {
        return Provenance::Number;
    }
    let is_predicate =
        |used: &&Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    let provenance_of = |used: &Register| provenance[used.0 as usize];
    let sources: Vec<Provenance> = inst
        .uses
        .iter()
        .filter(|used| !is_predicate(used))
        .map(provenance_of)
        .collect();
    // The other operand may be a loop variable whose definitions have not all been evaluated: wait for it.
    if sources.contains(&Provenance::Undefined)
        && !sources
            .iter()
            .any(|source| matches!(source, Provenance::Array(_)))
    {
        return Provenance::Undefined;
    }
    if sources.iter().all(|&source| source == Provenance::Number) {
        return Provenance::Number;
    }
    let is_selection = inst.uses.iter().any(|used| is_predicate(&used));
    let addends = match inst.arithmetic {
        Some(Arithmetic::Sum | Arithmetic::Offset) if is_selection => {
            return sources
                .into_iter()
                .reduce(join)
                .unwrap_or(Provenance::Number);
        }
        Some(Arithmetic::Sum | Arithmetic::Offset) => &sources[..],
        // A multiply-add that adds a product of numbers to an address.
        Some(Arithmetic::Product)
            if sources[..2]
                .iter()
                .all(|&source| source == Provenance::Number) =>
        {
            &sources[2..]
        }
        _ => return Provenance::Ambiguous,
    };
    let mut addresses = addends
        .iter()
        .filter(|&&source| source != Provenance::Number && source != Provenance::Undefined);
    match (addresses.next(), addresses.next()) {
        (Some(&address), None) => address,
        _ => Provenance::Ambiguous,
    }
}
