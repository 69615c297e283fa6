//! The dependence graph of a basic block, from which the time model derives how long the block takes a single
//! warp.
//!
//! NVIDIA's assembler reorders instructions within a block, so only true dependences count: a value must be
//! available
//! before its use, and memory accesses must not cross a barrier.

use super::vectorizer::Role;
use crate::isa::AccessKind;
use crate::isa::check_event::Waiting;
use crate::isa::listing::Step;
use crate::isa::sites::SiteKind;
use crate::lower::ir::Draft;
use crate::lower::register::Register;
use std::collections::HashMap;

/// Returns the steps of a block. `slot` is the first counter slot of its sites.
pub fn of(drafts: &[Draft], roles: &[Role], slot: usize) -> Vec<Step> {
    let mut next = slot as u32;
    let mut made: HashMap<Register, u32> = HashMap::new();
    let mut stores: Vec<u32> = Vec::new();
    let mut barrier = None;
    // Asynchronous copies that no instruction has waited for, with their group numbers.
    let mut copies: Vec<(u32, u32)> = Vec::new();
    let mut groups = 0;
    let mut steps = Vec::with_capacity(drafts.len());
    for (place, (draft, role)) in (0..).zip(drafts.iter().zip(roles)) {
        let site = draft.site();
        let counted = *role != Role::Rides;
        let access = match site {
            Some(SiteKind::Access(access)) => Some(access),
            _ => None,
        };
        let mut after: Vec<u32> = draft
            .uses
            .iter()
            .filter_map(|used| made.get(used).copied())
            .collect();
        if access.is_some() || draft.barrier {
            after.extend(barrier);
        }
        if draft.barrier {
            after.append(&mut stores);
            barrier = Some(place);
        }
        match draft.waiting {
            Waiting::No => {}
            Waiting::Commit => groups += 1,
            Waiting::Groups(pending) => {
                let done = |&mut (_, group): &mut (u32, u32)| group + pending < groups;
                after.extend(copies.extract_if(.., done).map(|(copy, _)| copy));
            }
            Waiting::All => after.extend(copies.drain(..).map(|(copy, _)| copy)),
        }
        if matches!(draft.waiting, Waiting::Groups(_) | Waiting::All) {
            after.extend(barrier);
            barrier = Some(place);
        }
        after.sort_unstable();
        after.dedup();
        match access.map(|access| access.kind) {
            Some(kind) if kind.is_copy() => copies.push((place, groups)),
            Some(kind) if !kind.is_load() => stores.push(place),
            _ => {}
        }
        made.extend(draft.defs.iter().map(|&register| (register, place)));
        steps.push(Step {
            class: draft.class,
            slot: access.filter(|_| counted).map(|_| next),
            loads: access.is_some_and(|access| access.kind != AccessKind::Store),
            barrier: draft.barrier,
            eights: draft.eights,
            first: draft.uses.is_empty() && !draft.defs.is_empty(),
            after,
        });
        next += site.filter(|_| counted).map_or(0, SiteKind::slots);
    }
    steps
}
