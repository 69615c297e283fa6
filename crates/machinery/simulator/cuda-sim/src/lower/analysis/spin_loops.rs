//! Spin-loop analysis: finds volatile loads and atomics that may poll for another thread's store, and
//! exchanges whose result is unused, which are plain stores.

use crate::exec::memory::atomic::Atomic;
use crate::isa::AccessKind;
use crate::lower::cfg::Cfg;
use crate::lower::ir::IrInst;
use crate::lower::register::Register;
use std::collections::HashSet;

/// Records the results in each access. The loops around calls of a device function are unknown, so every such
/// load in one may poll.
pub fn annotate(insts: &mut [IrInst], cfg: &Cfg, is_kernel: bool) {
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
    let address = insts[index].access.map(|access| access.address);
    let address = address.and_then(|operand| insts[index].operands.get(operand));
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
