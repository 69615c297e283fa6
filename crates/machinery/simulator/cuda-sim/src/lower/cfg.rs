//! The control-flow graph (CFG) of a function: basic blocks, their successors, and the reconvergence point of
//! each branch, which is the immediate post-dominator of the branching block.

use super::ir::{BlockId, Flow, IrInst};
use petgraph::Direction;
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef as _, Reversed};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Limit on the chain of empty blocks that [`only_exits`] follows, because such a chain may be a cycle.
const MAX_CHAIN_BLOCKS: usize = 64;

/// The control-flow graph of a function.
pub struct Cfg {
    /// The range of instruction indices of each block.
    pub ranges: Vec<Range<usize>>,
    /// The successors of each block.
    pub successors: Vec<Vec<usize>>,
    /// The block at which lanes that diverge at the end of each block reconverge: its immediate
    /// post-dominator, or `None` if they do not reconverge.
    pub reconvergence: Vec<Option<usize>>,
}

impl Cfg {
    /// Builds the graph. `starts[b]` is the index of the first instruction of block `b`, in ascending order.
    ///
    /// `end` is the block at which a device function's returns reconverge; `None` for a kernel, whose returns
    /// end the thread.
    pub fn new(insts: &[IrInst], starts: &[usize], end: Option<BlockId>) -> Cfg {
        let count = starts.len();
        let ranges: Vec<Range<usize>> = (0..count)
            .map(|block| starts[block]..starts.get(block + 1).copied().unwrap_or(insts.len()))
            .collect();
        let successors: Vec<Vec<usize>> = ranges
            .iter()
            .enumerate()
            .map(|(block, range)| {
                let last = insts[range.clone()]
                    .last()
                    .map_or(&Flow::Next, |inst| &inst.flow);
                let next = (block + 1 < count).then_some(block + 1);
                let mut to: Vec<usize> = match last {
                    Flow::Next => next.into_iter().collect(),
                    Flow::Jump(successor) => vec![successor.0],
                    Flow::Branch(successor) => next.into_iter().chain([successor.0]).collect(),
                    Flow::Table(successor) => successor.iter().map(|block| block.0).collect(),
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
        let reconvergence = reconvergence_blocks(insts, &ranges, &successors);
        Cfg {
            ranges,
            successors,
            reconvergence,
        }
    }

    /// Returns true if the code from `block` on only ends the thread.
    pub fn only_exits(&self, block: usize, insts: &[IrInst]) -> bool {
        only_exits(block, insts, &self.ranges, &self.successors)
    }

    /// Returns the blocks of each natural loop: all paths back to a header that dominates them.
    pub fn loops(&self) -> Vec<BTreeSet<usize>> {
        let (graph, nodes, _) = graph(&self.successors);
        let Some(&entry) = nodes.first() else {
            return Vec::new();
        };
        let dominators = dominators::simple_fast(&graph, entry);
        let dominates = |header: usize, block: usize| {
            let mut above = dominators.dominators(nodes[block]).into_iter().flatten();
            above.any(|node| node == nodes[header])
        };
        let mut back_edges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for edge in graph.edge_references() {
            let (from, to) = (edge.source().index(), edge.target().index());
            if to < nodes.len() && dominates(to, from) {
                back_edges.entry(to).or_default().push(from);
            }
        }
        let natural_loop = |(header, mut open): (usize, Vec<usize>)| {
            let mut blocks = BTreeSet::from([header]);
            while let Some(block) = open.pop() {
                if blocks.insert(block) {
                    let predecessors = graph.neighbors_directed(nodes[block], Direction::Incoming);
                    open.extend(predecessors.map(NodeIndex::index));
                }
            }
            blocks
        };
        back_edges.into_iter().map(natural_loop).collect()
    }

    /// Returns, for each block, whether it may be executed repeatedly.
    pub fn in_cycle(&self) -> Vec<bool> {
        let (graph, _, _) = graph(&self.successors);
        let mut in_cycle = vec![false; self.successors.len()];
        for component in petgraph::algo::tarjan_scc(&graph) {
            for &node in component.iter().filter(|_| component.len() > 1) {
                in_cycle[node.index()] = true;
            }
        }
        for (block, successors) in self.successors.iter().enumerate() {
            in_cycle[block] |= successors.contains(&block);
        }
        in_cycle
    }

    /// Returns the number of edges from reachable blocks into each block. The function's entry counts as an
    /// edge into block 0.
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut in_degrees = vec![0; self.ranges.len()];
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            in_degrees[block] += 1;
            if in_degrees[block] == 1 {
                open.extend(&self.successors[block]);
            }
        }
        in_degrees
    }
}

/// Returns the graph of the blocks, with an edge from those without successors to the exit, its last node.
fn graph(successors: &[Vec<usize>]) -> (DiGraph<(), ()>, Vec<NodeIndex>, NodeIndex) {
    let mut graph = DiGraph::new();
    let nodes: Vec<NodeIndex> = successors.iter().map(|_| graph.add_node(())).collect();
    let exit = graph.add_node(());
    for (block, next) in successors.iter().enumerate() {
        if next.is_empty() {
            graph.add_edge(nodes[block], exit, ());
        }
        for &successor in next {
            graph.add_edge(nodes[block], nodes[successor], ());
        }
    }
    (graph, nodes, exit)
}

/// Computes the reconvergence block of each block from the post-dominator tree.
fn reconvergence_blocks(
    insts: &[IrInst],
    ranges: &[Range<usize>],
    successors: &[Vec<usize>],
) -> Vec<Option<usize>> {
    let (graph, nodes, exit) = graph(successors);
    let dominators = dominators::simple_fast(Reversed(&graph), exit);
    nodes
        .iter()
        .map(|&node| {
            let post_dominator = dominators
                .immediate_dominator(node)
                .filter(|&post_dominator| post_dominator != exit)?;
            // Reconvergence just to end the thread would be useless, and a barrier must not wait for lanes
            // that have nothing left to execute.
            Some(post_dominator.index())
                .filter(|&block| !only_exits(block, insts, ranges, successors))
        })
        .collect()
}

/// Returns true if the code from `block` on only ends the thread. Jumps and empty blocks are skipped, because a
/// compiler may leave a loop through them.
fn only_exits(
    block: usize,
    insts: &[IrInst],
    ranges: &[Range<usize>],
    successors: &[Vec<usize>],
) -> bool {
    let mut current = block;
    for _ in 0..MAX_CHAIN_BLOCKS {
        let first = insts[ranges[current].clone()].first();
        match (first.map(|inst| &inst.flow), &successors[current][..]) {
            (Some(Flow::Exit | Flow::Stop), _) => return true,
            (Some(Flow::Jump(_)) | None, &[next]) => current = next,
            _ => return false,
        }
    }
    false
}
