//! The control flow graph of a function: its basic blocks, and where branches that part meet again.

use super::draft::{BlockId, Draft, Flow};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use std::ops::Range;

/// How many blocks that do nothing are followed at most, as they may go round.
const FARTHEST: usize = 64;

/// The control flow graph.
pub struct Graph {
    /// The drafts of each block, by their places.
    pub ranges: Vec<Range<usize>>,
    /// The blocks that control may go to from the end of each block.
    pub successors: Vec<Vec<usize>>,
    /// For each block the one where lanes that part at its end meet again: its immediate
    /// post-dominator. None where they do not meet.
    pub meets: Vec<Option<usize>>,
}

impl Graph {
    /// `starts[b]` is the first draft of block `b`, in ascending order.
    ///
    /// `end` is the block where a device function's returns meet; a kernel's returns end the
    /// thread.
    pub fn new(drafts: &[Draft], starts: &[usize], end: Option<BlockId>) -> Graph {
        let count = starts.len();
        let ranges: Vec<Range<usize>> = (0..count)
            .map(|block| starts[block]..starts.get(block + 1).copied().unwrap_or(drafts.len()))
            .collect();
        let successors: Vec<Vec<usize>> = ranges
            .iter()
            .enumerate()
            .map(|(block, range)| {
                let last = drafts[range.clone()]
                    .last()
                    .map_or(&Flow::Next, |draft| &draft.flow);
                let next = (block + 1 < count).then_some(block + 1);
                let mut to: Vec<usize> = match last {
                    Flow::Next => next.into_iter().collect(),
                    Flow::Jump(there) => vec![there.0],
                    Flow::Branch(there) => next.into_iter().chain([there.0]).collect(),
                    Flow::Table(there) => there.iter().map(|block| block.0).collect(),
                    Flow::Return => end.iter().map(|block| block.0).collect(),
                    Flow::Exit | Flow::Stop => Vec::new(),
                };
                if end == Some(BlockId(block)) {
                    to.clear();
                }
                to.dedup();
                to
            })
            .collect();
        let meets = meets(drafts, &ranges, &successors);
        Graph {
            ranges,
            successors,
            meets,
        }
    }

    /// Whether the code from a block on does nothing but end the thread.
    pub fn only_ends(&self, block: usize, drafts: &[Draft]) -> bool {
        only_ends(block, drafts, &self.ranges, &self.successors)
    }

    /// How many ways lead into each block from blocks that can be reached. The start of the
    /// function is one way into the first block.
    pub fn entries(&self) -> Vec<u32> {
        let mut entered = vec![0; self.ranges.len()];
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            entered[block] += 1;
            if entered[block] == 1 {
                open.extend(&self.successors[block]);
            }
        }
        entered
    }
}

/// For each block the one where lanes that part at its end meet again.
fn meets(
    drafts: &[Draft],
    ranges: &[Range<usize>],
    successors: &[Vec<usize>],
) -> Vec<Option<usize>> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = ranges.iter().map(|_| graph.add_node(())).collect();
    let exit = graph.add_node(());
    for (block, next) in successors.iter().enumerate() {
        if next.is_empty() {
            graph.add_edge(nodes[block], exit, ());
        }
        for &there in next {
            graph.add_edge(nodes[block], nodes[there], ());
        }
    }
    let dominators = dominators::simple_fast(Reversed(&graph), exit);
    nodes
        .iter()
        .map(|&node| {
            let meet = dominators
                .immediate_dominator(node)
                .filter(|&meet| meet != exit)?;
            // Lanes that only come together to end need not wait for each other; and a barrier must
            // not wait for lanes that have nothing left to do.
            Some(meet.index()).filter(|&block| !only_ends(block, drafts, ranges, successors))
        })
        .collect()
}

/// Whether the code from a block on does nothing but end the thread. Jumps and blocks without
/// instructions on the way there are nothing: a compiler may leave a loop through them.
fn only_ends(
    block: usize,
    drafts: &[Draft],
    ranges: &[Range<usize>],
    successors: &[Vec<usize>],
) -> bool {
    let mut here = block;
    for _ in 0..FARTHEST {
        let first = drafts[ranges[here].clone()].first();
        match (first.map(|draft| &draft.flow), &successors[here][..]) {
            (Some(Flow::Exit | Flow::Stop), _) => return true,
            (Some(Flow::Jump(_)) | None, &[next]) => here = next,
            _ => return false,
        }
    }
    false
}
