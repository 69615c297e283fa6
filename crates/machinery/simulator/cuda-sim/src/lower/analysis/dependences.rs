//! The dependence graph of a basic block, from which the time model derives how long the block takes a single
//! warp.
//!
//! NVIDIA's assembler reorders instructions within a block, so only true dependences count: a value must be
//! available before its use, and memory accesses must not cross a barrier.

use super::vectorizer::MergeRole;
use crate::isa::AccessKind;
use crate::isa::check_event::CopyGroupOp;
use crate::isa::listing::{SiteKind, Step};
use crate::lower::ir::IrInst;
use crate::lower::register::Register;
use std::collections::HashMap;

/// Returns the steps of a block. `slot` is the first counter slot of its sites.
pub fn steps(insts: &[IrInst], merge_roles: &[MergeRole], slot: usize) -> Vec<Step> {
    let mut next_slot = slot as u32;
    let mut producers: HashMap<Register, u32> = HashMap::new();
    let mut stores: Vec<u32> = Vec::new();
    let mut barrier = None;
    // Asynchronous copies that no instruction has waited for, with their group numbers.
    let mut pending_copies: Vec<(u32, u32)> = Vec::new();
    let mut closed_groups = 0;
    let mut steps = Vec::with_capacity(insts.len());
    for (index, (inst, role)) in (0..).zip(insts.iter().zip(merge_roles)) {
        let site = inst.site();
        let is_counted = *role != MergeRole::Merged;
        let access = match site {
            Some(SiteKind::Access(access)) => Some(access),
            _ => None,
        };
        let mut dependences: Vec<u32> = inst
            .uses
            .iter()
            .filter_map(|used| producers.get(used).copied())
            .collect();
        if access.is_some() || inst.barrier {
            dependences.extend(barrier);
        }
        if inst.barrier {
            dependences.append(&mut stores);
            barrier = Some(index);
        }
        match inst.copy_group_op {
            CopyGroupOp::None => {}
            CopyGroupOp::Commit => closed_groups += 1,
            CopyGroupOp::WaitGroups(pending) => {
                let is_complete =
                    |&mut (_, group): &mut (u32, u32)| group + pending < closed_groups;
                dependences.extend(
                    pending_copies
                        .extract_if(.., is_complete)
                        .map(|(copy, _)| copy),
                );
            }
            CopyGroupOp::WaitAll => {
                dependences.extend(pending_copies.drain(..).map(|(copy, _)| copy))
            }
        }
        if matches!(
            inst.copy_group_op,
            CopyGroupOp::WaitGroups(_) | CopyGroupOp::WaitAll
        ) {
            dependences.extend(barrier);
            barrier = Some(index);
        }
        dependences.sort_unstable();
        dependences.dedup();
        match access.map(|access| access.kind) {
            Some(kind) if kind.is_async_copy() => pending_copies.push((index, closed_groups)),
            Some(kind) if !kind.is_load() => stores.push(index),
            _ => {}
        }
        producers.extend(inst.defs.iter().map(|&register| (register, index)));
        steps.push(Step {
            class: inst.class,
            slot: access.filter(|_| is_counted).map(|_| next_slot),
            has_memory_latency: access.is_some_and(|access| access.kind != AccessKind::Store),
            barrier: inst.barrier,
            n8_tiles: inst.n8_tiles,
            has_no_sources: inst.uses.is_empty() && !inst.defs.is_empty(),
            dependences,
        });
        next_slot += site.filter(|_| is_counted).map_or(0, SiteKind::slot_count);
    }
    steps
}
