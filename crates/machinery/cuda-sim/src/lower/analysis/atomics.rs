//! The machine code of atomics: whether the old value is used, whether the lanes of a warp first combine
//! their values,
//! and which atomics on shared memory become compare-and-swap loops.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for compute capability
//! 9.0.

use super::uniformity;
use crate::exec::atomic::Atomic;
use crate::isa::{AccessKind, Means, Memory, Update};
use crate::lower::ir::Draft;
use crate::lower::cfg::Graph;
use crate::lower::register::{Register, RegisterInfo};
use std::collections::HashSet;

/// Records the result in each atomic.
pub fn note(drafts: &mut [Draft], graph: &Graph, registers: &[RegisterInfo]) {
    let updates = |draft: &Draft| draft.access.is_some_and(|access| access.kind.is_update());
    if !drafts.iter().any(updates) {
        return;
    }
    let uses = drafts.iter().flat_map(|draft| &draft.uses);
    let used: HashSet<Register> = uses.copied().collect();
    let uniform = uniformity::uniform(drafts, graph, registers);
    for draft in drafts.iter_mut() {
        let operation = Atomic::numbered(draft.x);
        let Some(access) = &mut draft.access else {
            continue;
        };
        if !access.kind.is_update() {
            continue;
        }
        let [address, value] = [1, 2].map(|operand: usize| draft.operands[operand]);
        let same = |register: Register| uniform[register.0 as usize];
        let looked_at = draft.defs.iter().any(|def| used.contains(def));
        if !looked_at && operation.has_reduction() {
            access.kind = AccessKind::Reduction;
        }
        let adds_one = operation == Atomic::Add && registers[value.0 as usize].literal == Some(1);
        access.update = Update {
            means: match access.memory {
                Memory::Shared => means_on_shared(operation, access.bytes, looked_at, adds_one),
                _ if operation == Atomic::CompareAndSwap => Means::CompareAndSwap,
                _ => Means::Once,
            },
            combined: same(address) && combines(operation, access.bytes, looked_at, same(value)),
        };
    }
}

fn means_on_shared(operation: Atomic, bytes: u32, looked_at: bool, adds_one: bool) -> Means {
    use Atomic::*;
    match (operation, bytes) {
        (CompareAndSwap, _) => Means::CompareAndSwap,
        (Exchange, _) => Means::Once,
        (AddFloat | AddHalf | AddBrain, _) => Means::Retries,
        (MinUnsigned | MaxUnsigned | MinSigned | MaxSigned, 8) => Means::RetriesIfBetter,
        (_, 8) => Means::Retries,
        (Add, _) if adds_one && !looked_at => Means::Counts,
        _ => Means::Once,
    }
}

/// Returns true if lanes with a uniform address combine their values before one lane accesses memory.
fn combines(operation: Atomic, bytes: u32, looked_at: bool, same_value: bool) -> bool {
    use Atomic::*;
    match operation {
        Add => bytes == 4 || same_value,
        And | Or | Xor | MinUnsigned | MaxUnsigned | MinSigned | MaxSigned => {
            bytes == 4 && !looked_at
        }
        Exchange | CompareAndSwap | Increment | Decrement | AddFloat | AddHalf | AddBrain => false,
    }
}
