//! Use of shuffle results: determines whether every lane uses the value it receives, whatever its source lane.
//!
//! A lane that reads from a lane outside the member mask receives an undefined value. That is an error only
//! if the lane uses the value, not if the program selects by lane index whether to use it.

use crate::isa::Class;
use crate::isa::check_event::CheckEvent;
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst};
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::HashSet;

/// Records the result in each shuffle.
pub fn annotate(insts: &mut [IrInst], cfg: &Cfg, registers: &[RegisterInfo]) {
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
