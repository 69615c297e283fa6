//! Which array of shared memory each access means: the one whose address its own was computed from.
//!
//! An index that is too large leads into the array behind. No hardware notices, for it has forgotten by
//! then whose address it was; here it is still known, as far as addresses are sums.

use crate::isa::checked::Array;
use crate::isa::{AccessKind, Memory};
use crate::lower::draft::{Arithmetic, Draft};
use crate::lower::limits;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::HashMap;

/// What is known of the address that a register may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// Nothing has been written to it so far.
    Nothing,
    /// It is no address of an array, or a number.
    Number,
    Array(Array),
    /// It may be the address of one array or of another, or nobody can tell.
    Several,
}

/// For each draft the array that it means; none where it does not access shared memory or where that is
/// not known. `bases` are the registers that get the address of an array.
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

/// What a register holds that is written at two places.
fn either(one: From, other: From) -> From {
    match (one, other) {
        (From::Nothing, known) | (known, From::Nothing) => known,
        _ if one == other => one,
        _ => From::Several,
    }
}

/// What an instruction writes.
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
    // A loop's variable is not known before all of the loop was seen.
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
        // A sum of a product and an address.
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
