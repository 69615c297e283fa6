//! Control flow of a function: basic blocks, and where branches that part meet again.

use super::analysis::wide::Arithmetic;
use super::registers::Register;
use crate::exec::sm::Run;
use crate::isa::checked::{Checked, Waiting};
use crate::isa::sites::SiteKind;
use crate::isa::{Access, Class};
use crate::ptx::ast::Location;
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use std::ops::Range;

/// A basic block of a function, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);

/// An instruction before its registers have rows and its branch has an address.
pub struct Draft {
    pub run: Run,
    pub class: Class,
    /// Registers in operand order.
    pub operands: Vec<Register>,
    pub defs: Vec<Register>,
    pub uses: Vec<Register>,
    /// Guarded: lanes whose guard fails keep their value.
    pub partial: bool,
    /// `y` becomes the number of instructions after it in its block.
    pub timed: bool,
    pub x: u32,
    pub y: u32,
    pub imm: u64,
    pub flow: Flow,
    /// What it does to memory, where it loads, stores or is an atomic.
    pub access: Option<Access>,
    /// It is a barrier of the block.
    pub barrier: bool,
    /// What it orders or brings together: nothing, a barrier, a warp's meeting, a fence.
    pub orders: Checked,
    /// What it does about asynchronous copies that have started.
    pub waiting: Waiting,
    /// Its operands are a list of the program's, whose number is `imm`: they are more than an
    /// instruction holds.
    pub listed: bool,
    /// Floating-point operations of a thread: a fused multiply-add is two.
    pub operations: u32,
    /// What its result's alignment follows from.
    pub arithmetic: Option<Arithmetic>,
    /// The first of those that one PTX instruction becomes.
    pub leads: bool,
    pub ptx_line: u32,
    pub location: Option<Location>,
}

impl Draft {
    /// As what it is counted by itself, if it is.
    pub fn site(&self) -> Option<SiteKind> {
        match &self.flow {
            Flow::Branch(_) | Flow::Table(_) => Some(SiteKind::Branch),
            _ if self.barrier => Some(SiteKind::Barrier),
            _ => self.access.map(SiteKind::Access),
        }
    }

    /// As what checks look at.
    pub fn checked(&self) -> Checked {
        if self.flow == Flow::Exit {
            return Checked::End;
        }
        match (self.access, self.orders, self.waiting) {
            (Some(access), _, _) => Checked::Access(access),
            (None, Checked::Nothing, Waiting::No | Waiting::Commit) => Checked::Nothing,
            (None, Checked::Nothing, waiting) => Checked::Wait(waiting),
            (None, orders, _) => orders,
        }
    }
}

/// Where control goes after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// There; its address becomes `x`.
    Jump(BlockId),
    /// There or to the next block; its address becomes `x`, the meeting place `y`.
    Branch(BlockId),
    /// To one of these; the meeting place becomes `y`.
    Table(Vec<BlockId>),
    /// Back to the caller, through the function's end.
    Return,
    /// Nowhere: the thread ends.
    Exit,
    /// Nowhere: the launch is stopped.
    Stop,
}

/// The control flow graph.
pub struct Graph {
    /// The drafts of each block.
    pub ranges: Vec<Range<usize>>,
    pub successors: Vec<Vec<usize>>,
    /// Where lanes that part at the end of a block meet again: its immediate post-dominator.
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
}

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
    // Lanes that only come together to end need not wait for each other; and a barrier must
    // not wait for lanes that have nothing left to do.
    let only_ends = |block: usize| {
        drafts[ranges[block].clone()]
            .first()
            .is_some_and(|draft| matches!(draft.flow, Flow::Exit | Flow::Stop))
    };
    nodes
        .iter()
        .map(|&node| {
            let meet = dominators
                .immediate_dominator(node)
                .filter(|&meet| meet != exit)?;
            Some(meet.index()).filter(|&block| !only_ends(block))
        })
        .collect()
}
