//! If-conversion: finds short blocks that NVIDIA's assembler predicates instead of branching around them.
//!
//! Every warp issues the instructions of such a block under a predicate, and lanes that would have branched
//! around it
//! do nothing. The block costs its issue slots each time the branch before it is reached, however few lanes
//! need it.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for this repository's
//! kernels.

use crate::isa::{Class, Memory};
use crate::lower::ir::{Draft, Flow};
use crate::lower::cfg::Graph;
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};

/// The length in PTX instructions of the longest predicated block observed: the stencil's halo has 17.
const LONGEST: u32 = 17;

/// Maximum number of blocks that are followed along a chain.
const FARTHEST: usize = 64;

/// Returns, for each predicated block, the block with whose branch it is issued; `None` for all other blocks.
pub fn issued_by(drafts: &[Draft], graph: &Graph) -> Vec<Option<usize>> {
    let entered = graph.entries();
    let above = Above::of(graph);
    let mut issued_by = vec![None; graph.ranges.len()];
    for (block, range) in graph.ranges.iter().enumerate() {
        let parts = drafts[range.clone()]
            .last()
            .is_some_and(|draft| matches!(draft.flow, Flow::Branch(_)));
        let [one, other] = graph.successors[block][..] else {
            continue;
        };
        if !parts {
            continue;
        }
        let arms = [one, other].map(|start| Arm::from(start, drafts, graph, &entered));
        if arms[0].meets != arms[1].meets || graph.only_ends(arms[0].meets, drafts) {
            continue;
        }
        // At the end of a loop body there is no other work to overlap with a load in flight, so lanes that do
        // not need the
        // load skip it.
        let waits = arms.iter().any(|arm| arm.loads) && goes_round(arms[0].meets, graph, &above);
        if !waits && arms.iter().all(|arm| arm.instructions <= LONGEST) {
            for arm in arms {
                for inside in arm.blocks {
                    issued_by[inside] = Some(block);
                }
            }
        }
    }
    issued_by
}

/// Returns, for each block, whether a branch at its end remains a branch in machine code: its sides are not
/// predicated
/// and neither side only ends the thread.
pub fn branches(issued_by: &[Option<usize>], drafts: &[Draft], graph: &Graph) -> Vec<bool> {
    let mut branches: Vec<bool> = graph
        .successors
        .iter()
        .map(|sides| !sides.iter().any(|&side| graph.only_ends(side, drafts)))
        .collect();
    for &block in issued_by.iter().flatten() {
        branches[block] = false;
    }
    branches
}

/// One side of a branch: the blocks reachable only through it, and the block where it ends.
struct Arm {
    blocks: Vec<usize>,
    instructions: u32,
    /// True if the arm loads from global memory.
    loads: bool,
    meets: usize,
}

impl Arm {
    fn from(start: usize, drafts: &[Draft], graph: &Graph, entered: &[u32]) -> Arm {
        let mut arm = Arm {
            blocks: Vec::new(),
            instructions: 0,
            loads: false,
            meets: start,
        };
        while let [next] = graph.successors[arm.meets][..]
            && entered[arm.meets] == 1
            && arm.instructions <= LONGEST
        {
            let inside = &drafts[graph.ranges[arm.meets].clone()];
            let stops = (0..inside.len()).any(|place| !fits(inside, place));
            if stops {
                break;
            }
            let counted = inside
                .iter()
                .filter(|draft| draft.leads && draft.flow == Flow::Next);
            arm.instructions += counted.count() as u32;
            arm.loads |= inside
                .iter()
                .filter_map(|draft| draft.access)
                .any(|access| {
                    access.kind.is_load()
                        && matches!(access.memory, Memory::Global | Memory::Generic)
                });
            arm.blocks.push(arm.meets);
            arm.meets = next;
        }
        arm
    }
}

/// Returns true if the instruction can be predicated. Barriers, calls and atomics cannot; square roots and
/// divisions
/// are short routines with branches of their own.
fn fits(block: &[Draft], place: usize) -> bool {
    let draft = &block[place];
    let guards = block.get(place + 1).is_some_and(|next| next.partial);
    let jumps = matches!(draft.flow, Flow::Jump(_));
    let holds_up = draft.class == Class::Control && !guards && !jumps;
    let atomic = draft.access.is_some_and(|access| access.kind.is_update());
    let program = draft.class == Class::Special && draft.operations > 0;
    !(holds_up || atomic || program || draft.barrier)
}

/// Skips empty blocks, which arise where a label follows a branch, and returns the next block that has
/// instructions.
fn past_labels(mut block: usize, graph: &Graph) -> usize {
    for _ in 0..FARTHEST {
        match graph.successors[block][..] {
            [next] if graph.ranges[block].is_empty() && next > block => block = next,
            _ => break,
        }
    }
    block
}

/// The dominator tree, as the entry and exit times of a depth-first traversal.
struct Above {
    /// The times at which the traversal enters and leaves each block; `None` for unreachable blocks.
    visits: Vec<Option<(usize, usize)>>,
}

impl Above {
    fn of(graph: &Graph) -> Above {
        let mut ways = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = graph.ranges.iter().map(|_| ways.add_node(())).collect();
        for (block, next) in graph.successors.iter().enumerate() {
            for &there in next {
                ways.add_edge(nodes[block], nodes[there], ());
            }
        }
        let dominators = dominators::simple_fast(&ways, nodes[0]);
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &node in &nodes {
            if let Some(above) = dominators.immediate_dominator(node) {
                below[above.index()].push(node.index());
            }
        }
        let mut visits = vec![None; nodes.len()];
        let mut clock = 0;
        let mut open = vec![0];
        while let Some(&block) = open.last() {
            clock += 1;
            match &mut visits[block] {
                // All children have been visited.
                Some((_, left)) => {
                    *left = clock;
                    open.pop();
                }
                came => {
                    *came = Some((clock, clock));
                    open.extend(&below[block]);
                }
            }
        }
        Above { visits }
    }

    /// Returns true if `passed` dominates `block`.
    fn leads_through(&self, passed: usize, block: usize) -> bool {
        match (self.visits[passed], self.visits[block]) {
            (Some((came, left)), Some((visit, _))) => (came..=left).contains(&visit),
            _ => false,
        }
    }
}

/// Returns true if the straight-line code from `start` ends in a back edge to a loop header.
fn goes_round(start: usize, graph: &Graph, above: &Above) -> bool {
    let mut block = start;
    for _ in 0..FARTHEST {
        let leads_back = |next: usize| above.leads_through(past_labels(next, graph), block);
        match graph.successors[block][..] {
            [next] if next != start && !leads_back(next) => block = next,
            ref next => return next.iter().any(|&next| leads_back(next)),
        }
    }
    // An irreducible loop has no header.
    false
}

#[cfg(test)]
mod tests;
