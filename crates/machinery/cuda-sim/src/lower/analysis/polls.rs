//! Which volatile loads and atomics may wait for another thread's store, and which exchanges are no
//! more than stores.

use crate::exec::atomic::Atomic;
use crate::isa::AccessKind;
use crate::lower::draft::Draft;
use crate::lower::graph::Graph;
use crate::lower::register::Register;
use std::collections::HashSet;

/// Notes it with each access. Of a function that is no kernel it is not known in which loop it is
/// called: there every load may wait.
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

/// Whether it is a store that other threads may look on at.
fn stores(draft: &Draft) -> bool {
    draft.access.is_some_and(|access| match access.ordered {
        Some(ordered) => access.kind == AccessKind::Store || ordered.only_stores,
        None => false,
    })
}

/// Whether there is a way from the draft at `place` back to it with no such store, and to the same
/// address: it is not computed anew. (Without optimisation it is loaded from local memory each time.)
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
