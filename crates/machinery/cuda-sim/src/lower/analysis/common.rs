//! What all warps of a block have in common: registers that hold one value for a gang.
//!
//! Parameters, sizes and numbers of blocks are the same for every thread of a block, and so is what
//! is computed or loaded with them alone. Threads that went different ways may have gone them at
//! different times, so nothing is common that is written between a branch at which they part and
//! the place where its ways meet.

use crate::lower::draft::{Draft, Flow};
use crate::lower::graph::Graph;
use crate::lower::limits;
use crate::lower::register::{Register, RegisterInfo};

/// Where a register's value is while a gang runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// In each warp's own frame: they may differ.
    Warps,
    /// In the gang's frame.
    Gang,
    /// In the gang's frame and in each warp's: the value is common, and warps that run by
    /// themselves read it too.
    Both,
}

/// Who holds each register of a kernel. Where it takes too long to find out, each warp holds its own.
pub fn holders(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<Holder> {
    let Some((own, parted)) = differing(drafts, graph, registers) else {
        return vec![Holder::Warps; registers.len()];
    };
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

/// For each register whether it may differ between threads, and for each block whether some threads
/// may be in it without the others. None where finding out takes too long.
fn differing(
    drafts: &[Draft],
    graph: &Graph,
    registers: &[RegisterInfo],
) -> Option<(Vec<bool>, Vec<bool>)> {
    let mut written: Vec<bool> = registers.iter().map(|r| r.literal.is_some()).collect();
    for def in drafts.iter().flat_map(|draft| &draft.defs) {
        written[def.0 as usize] = true;
    }
    // What nobody writes holds whatever was there.
    let mut own: Vec<bool> = written.iter().map(|written| !written).collect();
    let mut divergent = DivergentBlocks::new(graph);
    let mut steps = 0;
    let mut changed = true;
    while changed {
        changed = false;
        steps += drafts.len();
        if steps + divergent.steps > limits::STEPS {
            return None;
        }
        for (block, range) in graph.ranges.iter().enumerate() {
            for draft in &drafts[range.clone()] {
                let differs = |used: &Register| own[used.0 as usize];
                let differs = draft.uses.iter().any(differs);
                if differs || divergent.parted[block] || !repeats(draft) {
                    for def in &draft.defs {
                        changed |= !std::mem::replace(&mut own[def.0 as usize], true);
                    }
                }
                let divides = match draft.flow {
                    Flow::Branch(_) => differs && !one_way_ends(block, drafts, graph),
                    Flow::Table(_) => true,
                    _ => false,
                };
                if divides && divergent.steps <= limits::STEPS {
                    changed |= divergent.mark_after(block, graph);
                }
            }
        }
    }
    Some((own, divergent.parted))
}

/// For each register whether all lanes of a warp that come to its use have the same value in it, as far as
/// that follows from how it is computed. None has where finding out takes too long.
pub fn uniform(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<bool> {
    let Some((_, parted)) = differing(drafts, graph, registers) else {
        return vec![false; registers.len()];
    };
    let mut definitions = vec![0; registers.len()];
    for def in drafts.iter().flat_map(|draft| &draft.defs) {
        definitions[def.0 as usize] += 1;
    }
    let known = |(info, &times): (&RegisterInfo, &u32)| info.literal.is_some() || times > 0;
    let mut uniform: Vec<bool> = registers.iter().zip(&definitions).map(known).collect();
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += drafts.len();
        if steps > limits::STEPS {
            return vec![false; registers.len()];
        }
        for (block, range) in graph.ranges.iter().enumerate() {
            for draft in &drafts[range.clone()] {
                let same = repeats(draft) && draft.uses.iter().all(|used| uniform[used.0 as usize]);
                for def in &draft.defs {
                    // Where ways meet, it depends on the way.
                    let one_way = definitions[def.0 as usize] == 1 || !parted[block];
                    if !(same && one_way) {
                        changed |= std::mem::replace(&mut uniform[def.0 as usize], false);
                    }
                }
            }
        }
    }
    uniform
}

/// Whether all threads for which an instruction has the same sources get the same result.
fn repeats(draft: &Draft) -> bool {
    let ordered = draft.access.is_some_and(|access| access.ordered.is_some());
    draft.run.repeats && !draft.partial && !ordered
}

/// The blocks that only some of the threads may be in.
struct DivergentBlocks {
    /// Whether some threads may be in each block without the others.
    parted: Vec<bool>,
    /// For each block whether the ways of the branch at its end have been followed.
    marked: Vec<bool>,
    /// For each block one more than the number of the block whose branch was followed through it
    /// last; 0 for none.
    seen: Vec<usize>,
    /// How many blocks have been looked at so far.
    steps: usize,
}

impl DivergentBlocks {
    fn new(graph: &Graph) -> DivergentBlocks {
        let blocks = graph.ranges.len();
        DivergentBlocks {
            parted: vec![false; blocks],
            marked: vec![false; blocks],
            seen: vec![0; blocks],
            steps: 0,
        }
    }

    /// Marks the blocks between a branch at the end of `block` and where its ways meet; whether any
    /// is new.
    fn mark_after(&mut self, block: usize, graph: &Graph) -> bool {
        if std::mem::replace(&mut self.marked[block], true) {
            return false;
        }
        let meet = graph.meets[block];
        let mut open = graph.successors[block].clone();
        let mut changed = false;
        while let Some(next) = open.pop() {
            self.steps += 1;
            let seen = std::mem::replace(&mut self.seen[next], block + 1) == block + 1;
            if Some(next) != meet && !seen {
                changed |= !std::mem::replace(&mut self.parted[next], true);
                open.extend(&graph.successors[next]);
            }
        }
        changed
    }
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
