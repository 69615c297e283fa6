//! The instructions of a basic block and what each has to wait for: how long the block takes a warp
//! that is alone.
//!
//! A GPU's assembler moves instructions about inside a block, so that only these dependences count:
//! a value has to be there before it is used, and at a barrier memory has to be in order.

use super::wide::Role;
use crate::isa::AccessKind;
use crate::isa::checked::Waiting;
use crate::isa::listing::Step;
use crate::isa::sites::SiteKind;
use crate::lower::draft::Draft;
use crate::lower::register::Register;
use std::collections::HashMap;

/// The steps of a block. `slot` is the number of the first counter of its sites.
pub fn of(drafts: &[Draft], roles: &[Role], slot: usize) -> Vec<Step> {
    let mut next = slot as u32;
    let mut made: HashMap<Register, u32> = HashMap::new();
    let mut stores: Vec<u32> = Vec::new();
    let mut barrier = None;
    // Asynchronous copies that nothing has waited for, each with its group.
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
