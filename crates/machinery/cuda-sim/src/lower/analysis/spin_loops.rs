//! Spin-loop analysis: finds volatile loads and atomics that may poll for another thread's store, and
//! exchanges whose
//! result is unused, which are plain stores.

use crate::exec::atomic::Atomic;
use crate::isa::AccessKind;
use crate::lower::ir::Draft;
use crate::lower::cfg::Graph;
use crate::lower::register::Register;
use std::collections::HashSet;

/// Records the results in each access. The loops around calls of a device function are unknown, so every such
/// load in
/// one may poll.
pub fn note(drafts: &mut [Draft], graph: &Graph, is_kernel: bool) {
    let ordered = |draft: &Draft| draft.access.is_some_and(|access| access.ordered.is_some());
    if !drafts.iter().any(ordered) {
        return;
    }
    let used: HashSet<Register> = drafts
        .iter()
        .flat_map(|draft| &draft.uses)
        .copied()
        .collect();
    for draft in drafts.iter_mut() {
        let unused = !draft.defs.iter().any(|def| used.contains(def));
        let exchanges = draft.x == Atomic::Exchange as u32 && unused;
        if let Some(access) = &mut draft.access
            && access.kind.is_update()
            && let Some(ordered) = &mut access.ordered
        {
            ordered.only_stores = exchanges;
        }
    }
    let reads = |draft: &Draft| ordered(draft) && !stores(draft);
    let waiting: Vec<usize> = (0..drafts.len())
        .filter(|&place| reads(&drafts[place]))
        .filter(|&place| !is_kernel || comes_back(drafts, graph, place))
        .collect();
    for place in waiting {
        if let Some(access) = &mut drafts[place].access
            && let Some(ordered) = &mut access.ordered
        {
            ordered.polls = true;
        }
    }
}

/// Returns true if the instruction is a store that other threads can observe.
fn stores(draft: &Draft) -> bool {
    draft.access.is_some_and(|access| match access.ordered {
        Some(ordered) => access.kind == AccessKind::Store || ordered.only_stores,
        None => false,
    })
}

/// Returns true if a path leads from instruction `place` back to it without such a store and without a
/// redefinition of
/// its address. (Unoptimized code reloads the address from local memory each time, which does not count.)
fn comes_back(drafts: &[Draft], graph: &Graph, place: usize) -> bool {
    let address = drafts[place].access.map(|access| access.address);
    let address = address.and_then(|operand| drafts[place].operands.get(operand));
    let moves = |draft: &Draft| {
        let sets = address.is_some_and(|address| draft.defs.contains(address));
        sets && draft.access.is_none()
    };
    let stops = |draft: &Draft| stores(draft) || moves(draft);
    let passes = |mut range: std::ops::Range<usize>| !range.any(|place| stops(&drafts[place]));
    let ranges = &graph.ranges;
    let Some(own) = ranges.iter().position(|range| range.contains(&place)) else {
        return false;
    };
    if !passes(place..ranges[own].end) {
        return false;
    }
    let mut seen = vec![false; ranges.len()];
    let mut open = graph.successors[own].clone();
    while let Some(block) = open.pop() {
        if block == own && passes(ranges[own].start..place) {
            return true;
        }
        if !std::mem::replace(&mut seen[block], true) && passes(ranges[block].clone()) {
            open.extend(&graph.successors[block]);
        }
    }
    false
}
