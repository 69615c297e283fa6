//! Address provenance: the shared-memory array from whose address each access's address was computed.
//!
//! An index that is too large reaches into the next array. Hardware cannot detect this, because an address
//! does not
//! carry its provenance. The sanitizer can, as long as the address is a sum that involves one array's address.

use crate::isa::check_event::Array;
use crate::isa::{AccessKind, Memory};
use crate::lower::ir::{Arithmetic, Draft};
use crate::lower::limits;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::HashMap;

/// The provenance of the values that a register may hold: a lattice with `Nothing` at the bottom and
/// `Several` at the
/// top.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// No definition has been evaluated yet.
    Nothing,
    /// A number or another value that is not derived from an array's address.
    Number,
    Array(Array),
    /// Derived from different arrays, or unknown.
    Several,
}

/// Returns, for each instruction, the array that its access belongs to; `None` if it does not access shared
/// memory or
/// the provenance is unknown. `bases` maps the registers that receive an array's address to the array.
pub fn meant(
    drafts: &[Draft],
    registers: &[RegisterInfo],
    bases: &HashMap<Register, Array>,
) -> Vec<Option<Array>> {
    let mut meant = vec![None; drafts.len()];
    if bases.is_empty() {
        return meant;
    }
    let literal = |info: &RegisterInfo| match info.literal {
        Some(_) => From::Number,
        None => From::Nothing,
    };
    let mut from: Vec<From> = registers.iter().map(literal).collect();
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += drafts.len();
        if steps > limits::STEPS {
            return meant;
        }
        for draft in drafts {
            for def in &draft.defs {
                let new = match bases.get(def) {
                    Some(&array) => From::Array(array),
                    None => result(draft, registers, &from),
                };
                let known = &mut from[def.0 as usize];
                let both = either(*known, new);
                changed |= *known != both;
                *known = both;
            }
        }
    }
    for (meant, draft) in meant.iter_mut().zip(drafts) {
        let Some(access) = draft.access else {
            continue;
        };
        if access.memory == Memory::Shared
            && access.kind != AccessKind::MatrixLoad
            && let From::Array(array) = from[draft.operands[access.address].0 as usize]
        {
            *meant = Some(array);
        }
    }
    meant
}

/// Joins the provenances of two definitions of a register.
fn either(one: From, other: From) -> From {
    match (one, other) {
        (From::Nothing, known) | (known, From::Nothing) => known,
        _ if one == other => one,
        _ => From::Several,
    }
}

/// Returns the provenance of an instruction's result.
fn result(draft: &Draft, registers: &[RegisterInfo], from: &[From]) -> From {
    if draft.access.is_some() {
        return From::Number;
    }
    let is_predicate =
        |used: &&Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    let of = |used: &Register| from[used.0 as usize];
    let numbers: Vec<From> = draft
        .uses
        .iter()
        .filter(|used| !is_predicate(used))
        .map(of)
        .collect();
    // The other operand may be a loop variable whose definitions have not all been evaluated: wait for it.
    if numbers.contains(&From::Nothing) && !numbers.iter().any(|one| matches!(one, From::Array(_)))
    {
        return From::Nothing;
    }
    if numbers.iter().all(|&one| one == From::Number) {
        return From::Number;
    }
    let chooses = draft.uses.iter().any(|used| is_predicate(&used));
    let addends = match draft.arithmetic {
        Some(Arithmetic::Sum | Arithmetic::Offset) if chooses => {
            return numbers.into_iter().reduce(either).unwrap_or(From::Number);
        }
        Some(Arithmetic::Sum | Arithmetic::Offset) => &numbers[..],
        // A multiply-add that adds a product of numbers to an address.
        Some(Arithmetic::Product) if numbers[..2].iter().all(|&one| one == From::Number) => {
            &numbers[2..]
        }
        _ => return From::Several,
    };
    let mut addresses = addends
        .iter()
        .filter(|&&one| one != From::Number && one != From::Nothing);
    match (addresses.next(), addresses.next()) {
        (Some(&one), None) => one,
        _ => From::Several,
    }
}
