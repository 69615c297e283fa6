//! Uniformity analysis: finds registers that hold the same value for all warps of a block, so that a gang
//! computes
//! them once.
//!
//! Parameters, block sizes and block indices are uniform, and so is everything computed or loaded from
//! uniform values
//! only. Divergent threads may execute a block at different times, so no definition between a divergent
//! branch and its
//! reconvergence point is uniform.

use crate::lower::ir::{Draft, Flow};
use crate::lower::cfg::Graph;
use crate::lower::limits;
use crate::lower::register::{Register, RegisterInfo};

/// The frames that hold a register's value while a gang runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Each warp's own frame: the values may differ.
    Warps,
    /// The gang's frame.
    Gang,
    /// The gang's frame and each warp's: the value is uniform, but warps that execute an instruction by
    /// themselves also
    /// read it.
    Both,
}

/// Returns the frames that hold each register of a kernel. If the analysis exceeds its step limit, every
/// register is
/// held per warp.
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
            // A guarded instruction executes per warp, with its guard.
            let alone = parted[block] || draft.partial || draft.run.gang.is_none();
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

/// Returns, for each register, whether its value may differ between threads and, for each block, whether
/// execution may
/// be divergent in it. Returns `None` if the analysis exceeds its step limit.
fn differing(
    drafts: &[Draft],
    graph: &Graph,
    registers: &[RegisterInfo],
) -> Option<(Vec<bool>, Vec<bool>)> {
    let mut written: Vec<bool> = registers.iter().map(|r| r.literal.is_some()).collect();
    for def in drafts.iter().flat_map(|draft| &draft.defs) {
        written[def.0 as usize] = true;
    }
    // A register that is never written is uninitialized and may differ.
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

/// Returns, for each register, whether all lanes of a warp that reach a use of it are known to have the same
/// value.
/// Returns false for all registers if the analysis exceeds its step limit.
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
                    // With several reaching definitions in divergent code, the value depends on the path.
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

/// Returns true if threads with equal sources get equal results from the instruction.
fn repeats(draft: &Draft) -> bool {
    let ordered = draft.access.is_some_and(|access| access.ordered.is_some());
    draft.run.preserves_uniformity && !draft.partial && !ordered
}

/// The blocks in which execution may be divergent.
struct DivergentBlocks {
    /// For each block, whether only some of the threads may execute it together.
    parted: Vec<bool>,
    /// For each block, whether the paths from the branch at its end have been followed.
    marked: Vec<bool>,
    /// For each block, one more than the number of the branching block whose paths last visited it; 0 if none
    /// has.
    seen: Vec<usize>,
    /// The number of blocks visited so far.
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

    /// Marks the blocks between the branch at the end of `block` and its reconvergence point as divergent.
    /// Returns true if
    /// any is newly marked.
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

/// Returns true if one side of the branch at the end of `block` only ends the thread.
fn one_way_ends(block: usize, drafts: &[Draft], graph: &Graph) -> bool {
    graph.successors[block]
        .iter()
        .any(|&next| only_ends(next, drafts, graph))
}

/// Returns true if a block only ends the thread.
pub fn only_ends(block: usize, drafts: &[Draft], graph: &Graph) -> bool {
    let first = drafts[graph.ranges[block].clone()].first();
    first.is_some_and(|draft| draft.flow == Flow::Exit)
}
