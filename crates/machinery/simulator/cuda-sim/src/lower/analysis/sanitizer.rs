//! Analyses for the sanitizer and the detection of spin loops.
//!
//! **Address provenance** is the shared-memory array from whose address each access's address was computed.
//! An index that is too large reaches into the next array. Hardware cannot detect this, because an address
//! does not carry its provenance. The sanitizer can, as long as the address is a sum that involves one
//! array's address.
//!
//! **Shuffle results**: every lane may use the value it receives, whatever its source lane, or only some. A
//! lane that reads from a lane outside the member mask receives an undefined value. That is an error only if
//! the lane uses the value, not if the program selects by lane index whether to use it.
//!
//! **Polling**: volatile loads and atomics that may poll for another thread's store, and the exchanges whose
//! result is unused, which are plain stores.

use crate::exec::memory::atomic::Atomic;
use crate::isa::check_event::{CheckEvent, SharedArray};
use crate::isa::{AccessKind, Class, Memory};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Arithmetic, Flow, IrInst, Register, RegisterClass, RegisterInfo};
use crate::lower::limits;
use std::collections::{HashMap, HashSet};

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

/// Records the result in each shuffle.
pub fn annotate_shuffles(insts: &mut [IrInst], cfg: &Cfg, registers: &[RegisterInfo]) {
    for range in &cfg.ranges {
        for index in range.clone() {
            let CheckEvent::WarpSync(warp_sync) = insts[index].sync_event else {
                continue;
            };
            if warp_sync.shuffle.is_none() {
                continue;
            }
            let used = uses_result(insts, range.clone(), index, registers);
            if let CheckEvent::WarpSync(warp_sync) = &mut insts[index].sync_event
                && let Some(shuffle) = &mut warp_sync.shuffle
            {
                shuffle.result_used = used;
            }
        }
    }
}

/// Returns true if the rest of the block uses the result of instruction `index` in all lanes, without a
/// selection.
fn uses_result(
    insts: &[IrInst],
    block: std::ops::Range<usize>,
    index: usize,
    registers: &[RegisterInfo],
) -> bool {
    let is_predicate = |used: &Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    // The shuffled value (and copies of it), and values computed from it.
    let mut received: HashSet<Register> = insts[index].defs.first().copied().into_iter().collect();
    let mut computed: HashSet<Register> = HashSet::new();
    let mut guarded = false;
    for inst in &insts[index + 1..block.end] {
        let is_guard = inst.class == Class::Control && inst.flow == Flow::Next && inst.predicated;
        let is_conditional = std::mem::replace(&mut guarded, is_guard) || inst.predicated;
        let reads_from = |set: &HashSet<Register>| inst.uses.iter().any(|used| set.contains(used));
        let (reads_received, reads_computed) = (reads_from(&received), reads_from(&computed));
        if (reads_received || reads_computed) && !is_conditional {
            let mut conditions = inst.uses.iter().filter(|used| is_predicate(used));
            let mut computed_conditions = conditions.clone().filter(|used| computed.contains(used));
            if computed_conditions.next().is_some() || inst.defs.is_empty() || inst.access.is_some()
            {
                return true;
            }
            if conditions.next().is_none() {
                let is_copy = inst.class == Class::Move && !reads_computed;
                let set = if is_copy {
                    &mut received
                } else {
                    &mut computed
                };
                set.extend(&inst.defs);
                continue;
            }
        }
        for def in inst.defs.iter().filter(|_| !is_conditional) {
            received.remove(def);
            computed.remove(def);
        }
    }
    let other_blocks = insts[..index].iter().chain(&insts[block.end..]);
    other_blocks
        .flat_map(|inst| &inst.uses)
        .any(|used| computed.contains(used))
}

/// Records the results in each access. The loops around calls of a device function are unknown, so every such
/// load in one may poll.
pub fn annotate_spin_loops(insts: &mut [IrInst], cfg: &Cfg, is_kernel: bool) {
    let ordered = |inst: &IrInst| inst.access.is_some_and(|access| access.ordered.is_some());
    if !insts.iter().any(ordered) {
        return;
    }
    let used: HashSet<Register> = insts.iter().flat_map(|inst| &inst.uses).copied().collect();
    for inst in insts.iter_mut() {
        let result_unused = !inst.defs.iter().any(|def| used.contains(def));
        let is_plain_store = inst.arg0 == Atomic::Exchange as u32 && result_unused;
        if let Some(access) = &mut inst.access
            && access.kind.is_atomic()
            && let Some(ordered) = &mut access.ordered
        {
            ordered.only_stores = is_plain_store;
        }
    }
    let is_observable_read = |inst: &IrInst| ordered(inst) && !is_observable_store(inst);
    let polling: Vec<usize> = (0..insts.len())
        .filter(|&index| is_observable_read(&insts[index]))
        .filter(|&index| !is_kernel || can_poll(insts, cfg, index))
        .collect();
    for index in polling {
        if let Some(access) = &mut insts[index].access
            && let Some(ordered) = &mut access.ordered
        {
            ordered.polls = true;
        }
    }
}

/// Returns true if the instruction is a store that other threads can observe.
fn is_observable_store(inst: &IrInst) -> bool {
    inst.access.is_some_and(|access| match access.ordered {
        Some(ordered) => access.kind == AccessKind::Store || ordered.only_stores,
        None => false,
    })
}

/// Returns true if a path leads from instruction `index` back to it without such a store and without a
/// redefinition of its address. (Unoptimized code reloads the address from local memory each time, which does
/// not count.)
fn can_poll(insts: &[IrInst], cfg: &Cfg, index: usize) -> bool {
    let inst = &insts[index];
    let address = inst
        .access
        .and_then(|access| inst.operands.get(access.address));
    let redefines_address = |inst: &IrInst| {
        let sets = address.is_some_and(|address| inst.defs.contains(address));
        sets && inst.access.is_none()
    };
    let blocks = |inst: &IrInst| is_observable_store(inst) || redefines_address(inst);
    let is_transparent =
        |mut range: std::ops::Range<usize>| !range.any(|index| blocks(&insts[index]));
    let ranges = &cfg.ranges;
    let Some(own_block) = ranges.iter().position(|range| range.contains(&index)) else {
        return false;
    };
    if !is_transparent(index..ranges[own_block].end) {
        return false;
    }
    let mut visited = vec![false; ranges.len()];
    let mut worklist = cfg.successors[own_block].clone();
    while let Some(block) = worklist.pop() {
        if block == own_block && is_transparent(ranges[own_block].start..index) {
            return true;
        }
        if !std::mem::replace(&mut visited[block], true) && is_transparent(ranges[block].clone()) {
            worklist.extend(&cfg.successors[block]);
        }
    }
    false
}
