//! What all warps of a block have in common: registers that hold one value for a gang.
//!
//! Parameters, sizes and numbers of blocks are the same for every thread of a block, and so is what
//! is computed or loaded with them alone. Threads that went different ways may have gone them at
//! different times, so nothing is common that is written between a branch at which they part and
//! the place where its ways meet.

use super::flow::{Draft, Flow, Graph};
use super::registers::{Register, RegisterInfo};
use std::ops::Range;

/// Where a register's value is while a gang runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// In each warp's own frame: they may differ.
    Warps,
    /// In the gang's frame.
    Gang,
    /// In all of them: it is common, and read by warps alone as well.
    Both,
}

/// The parts of a frame that hold what warps have in common: byte offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommonRows {
    /// Rows of 64 bits a lane.
    pub wide: Range<u32>,
    /// Rows of 32 bits a lane.
    pub narrow: Range<u32>,
    pub predicates: Range<u32>,
}

impl CommonRows {
    pub fn bytes(&self) -> u32 {
        (self.wide.len() + self.narrow.len() + self.predicates.len()) as u32
    }
}

/// Who holds each register of a kernel.
pub fn holders(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<Holder> {
    let (own, parted) = differing(drafts, graph, registers);
    let mut holders: Vec<Holder> = own
        .iter()
        .map(|&own| if own { Holder::Warps } else { Holder::Gang })
        .collect();
    for (block, range) in graph.ranges.iter().enumerate() {
        for draft in &drafts[range.clone()] {
            // A guarded instruction runs with its guard.
            let alone = parted[block] || draft.partial || draft.run.together.is_none();
            for used in draft.uses.iter().filter(|_| alone) {
                let holder = &mut holders[used.0 as usize];
                if *holder == Holder::Gang {
                    *holder = Holder::Both;
                }
            }
        }
    }
    holders
}

/// The registers that may differ between threads, and the blocks that only some may be in.
fn differing(
    drafts: &[Draft],
    graph: &Graph,
    registers: &[RegisterInfo],
) -> (Vec<bool>, Vec<bool>) {
    let mut written: Vec<bool> = registers.iter().map(|r| r.literal.is_some()).collect();
    for def in drafts.iter().flat_map(|draft| &draft.defs) {
        written[def.0 as usize] = true;
    }
    // What nobody writes holds whatever was there.
    let mut own: Vec<bool> = written.iter().map(|written| !written).collect();
    let mut parted = vec![false; graph.ranges.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (block, range) in graph.ranges.iter().enumerate() {
            for draft in &drafts[range.clone()] {
                let differs = |used: &Register| own[used.0 as usize];
                let differs = draft.uses.iter().any(differs);
                if differs || parted[block] || !repeats(draft) {
                    for def in &draft.defs {
                        changed |= !std::mem::replace(&mut own[def.0 as usize], true);
                    }
                }
                let parts = match draft.flow {
                    Flow::Branch(_) => differs && !one_way_ends(block, drafts, graph),
                    Flow::Table(_) => true,
                    _ => false,
                };
                if parts {
                    changed |= mark_between(block, graph, &mut parted);
                }
            }
        }
    }
    (own, parted)
}

/// Whether an instruction gives the same to all threads that give it the same.
fn repeats(draft: &Draft) -> bool {
    let ordered = draft.access.is_some_and(|access| access.ordered);
    draft.run.repeats && !draft.partial && !ordered
}

/// Marks the blocks between a branch at the end of `block` and where its ways meet; whether any is
/// new.
fn mark_between(block: usize, graph: &Graph, parted: &mut [bool]) -> bool {
    let meet = graph.meets[block];
    let mut seen = vec![false; graph.ranges.len()];
    let mut open = graph.successors[block].clone();
    let mut changed = false;
    while let Some(next) = open.pop() {
        if Some(next) != meet && !std::mem::replace(&mut seen[next], true) {
            changed |= !std::mem::replace(&mut parted[next], true);
            open.extend(&graph.successors[next]);
        }
    }
    changed
}

/// Whether one of the ways at the end of `block` does nothing but end the thread.
fn one_way_ends(block: usize, drafts: &[Draft], graph: &Graph) -> bool {
    graph.successors[block]
        .iter()
        .any(|&next| only_ends(next, drafts, graph))
}

/// Whether a block has nothing in it but the thread's end.
pub fn only_ends(block: usize, drafts: &[Draft], graph: &Graph) -> bool {
    let first = drafts[graph.ranges[block].clone()].first();
    first.is_some_and(|draft| draft.flow == Flow::Exit)
}
