//! Use of shuffle results: determines whether every lane uses the value it receives, whatever its source lane.
//!
//! A lane that reads from a lane outside the member mask receives an undefined value. That is an error only
//! if the
//! lane uses the value, not if the program selects by lane index whether to use it.

use crate::isa::Class;
use crate::isa::check_event::Checked;
use crate::lower::ir::{Draft, Flow};
use crate::lower::cfg::Graph;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::HashSet;

/// Records the result in each shuffle.
pub fn note(drafts: &mut [Draft], graph: &Graph, registers: &[RegisterInfo]) {
    for range in &graph.ranges {
        for place in range.clone() {
            let Checked::Warp(meeting) = drafts[place].orders else {
                continue;
            };
            if meeting.shuffle.is_none() {
                continue;
            }
            let used = is_used(drafts, range.clone(), place, registers);
            if let Checked::Warp(meeting) = &mut drafts[place].orders
                && let Some(shuffle) = &mut meeting.shuffle
            {
                shuffle.used = used;
            }
        }
    }
}

/// Returns true if the rest of the block uses the result of instruction `place` in all lanes, without a
/// selection.
fn is_used(
    drafts: &[Draft],
    block: std::ops::Range<usize>,
    place: usize,
    registers: &[RegisterInfo],
) -> bool {
    let is_predicate = |used: &Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    // The shuffled value (and copies of it), and values computed from it.
    let mut given: HashSet<Register> = drafts[place].defs.first().copied().into_iter().collect();
    let mut computed: HashSet<Register> = HashSet::new();
    let mut guarded = false;
    for draft in &drafts[place + 1..block.end] {
        let guards = draft.class == Class::Control && draft.flow == Flow::Next && draft.partial;
        let skips = std::mem::replace(&mut guarded, guards) || draft.partial;
        let of = |set: &HashSet<Register>| draft.uses.iter().any(|used| set.contains(used));
        let (takes, takes_computed) = (of(&given), of(&computed));
        if (takes || takes_computed) && !skips {
            let mut chosen_by = draft.uses.iter().filter(|used| is_predicate(used));
            let mut known = chosen_by.clone().filter(|used| computed.contains(used));
            if known.next().is_some() || draft.defs.is_empty() || draft.access.is_some() {
                return true;
            }
            if chosen_by.next().is_none() {
                let copies = draft.class == Class::Move && !takes_computed;
                let into = if copies { &mut given } else { &mut computed };
                into.extend(&draft.defs);
                continue;
            }
        }
        for def in draft.defs.iter().filter(|_| !skips) {
            given.remove(def);
            computed.remove(def);
        }
    }
    let outside = drafts[..place].iter().chain(&drafts[block.end..]);
    outside
        .flat_map(|draft| &draft.uses)
        .any(|used| computed.contains(used))
}
