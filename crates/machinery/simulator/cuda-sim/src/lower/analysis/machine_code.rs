//! Decisions of NVIDIA's assembler on which counters and modelled times depend.
//!
//! **If-conversion.** The assembler predicates short blocks instead of branching around them. Every warp issues
//! the instructions of such a block under a predicate, and lanes that would have branched around it do nothing.
//! The block costs its issue slots each time the branch before it is reached, however few lanes need it.
//!
//! **Atomics.** The machine code of an atomic depends on whether the old value is used and whether the lanes of
//! a warp first combine their values. Some atomics on shared memory become compare-and-swap loops.
//!
//! **Dependences.** From the dependence graph of a basic block, the time model derives how long the block takes
//! a single warp. The assembler reorders instructions within a block, so only true dependences count: a value
//! must be available before its use, and memory accesses must not cross a barrier.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for this repository's
//! kernels; those of atomics, from its code for compute capability 9.0.

use super::uniformity;
use super::vectorizer::MergeRole;
use crate::exec::device_runtime;
use crate::exec::memory::atomic::Atomic;
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::listing::{SiteKind, Stall, Step};
use crate::isa::{AccessKind, AtomicMethod, Class, Memory, Update};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst, Register, RegisterInfo};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// The length in PTX instructions of the longest predicated block observed: the stencil's halo has 17.
const MAX_PREDICATED_INSTRUCTIONS: u32 = 17;

/// Maximum number of blocks that are followed along a chain.
const MAX_CHAIN_BLOCKS: usize = 64;

/// Returns, for each predicated block, the block with whose branch it is issued; `None` for all other blocks.
pub fn issued_by(insts: &[IrInst], cfg: &Cfg) -> Vec<Option<usize>> {
    let in_degrees = cfg.in_degrees();
    let above = DominatorTree::of(cfg);
    let mut issued_by = vec![None; cfg.ranges.len()];
    for (block, range) in cfg.ranges.iter().enumerate() {
        let branches_here = insts[range.clone()]
            .last()
            .is_some_and(|inst| matches!(inst.flow, Flow::Branch(_)));
        let [first, second] = cfg.successors[block][..] else {
            continue;
        };
        if !branches_here {
            continue;
        }
        let sides = [first, second].map(|start| Side::from(start, insts, cfg, &in_degrees));
        if sides[0].end != sides[1].end || cfg.only_exits(sides[0].end, insts) {
            continue;
        }
        // At the end of a loop body there is no other work to overlap with a load in flight, so lanes that do
        // not need the load skip it.
        let stalls =
            sides.iter().any(|side| side.loads) && ends_in_back_edge(sides[0].end, cfg, &above);
        if !stalls
            && sides
                .iter()
                .all(|side| side.instructions <= MAX_PREDICATED_INSTRUCTIONS)
        {
            for side in sides {
                for inside in side.blocks {
                    issued_by[inside] = Some(block);
                }
            }
        }
    }
    issued_by
}

/// Returns, for each block that issues a predicated one with loads, the predicated block at whose end it starts, if nothing
/// so far waits for the loads of that block or those before it; `None` for all other blocks.
pub fn overlaps(issued_by: &[Option<usize>], insts: &[IrInst], cfg: &Cfg) -> Vec<Option<usize>> {
    let mut overlaps = vec![None; cfg.ranges.len()];
    // For each block after a predicated one with loads: that block, and the registers whose values are in flight.
    let mut in_flight: HashMap<usize, (usize, HashSet<Register>)> = HashMap::new();
    for (number, issuer) in issued_by.iter().enumerate() {
        let Some(issuer) = *issuer else { continue };
        let [issuing, predicated] = [issuer, number].map(|block| &insts[cfg.ranges[block].clone()]);
        let before = in_flight.get(&issuer);
        let before = before.filter(|(_, registers)| !waits_for(issuing, registers));
        let mut registers = before.map_or_else(HashSet::new, |(_, registers)| registers.clone());
        let loads = predicated.iter().filter(|inst| {
            let access = inst.access;
            access.is_some_and(|access| access.kind.is_load() && access.memory == Memory::Global)
        });
        let loaded: Vec<Register> = loads.flat_map(|load| load.defs.iter().copied()).collect();
        registers.extend(&loaded);
        if loaded.is_empty() || waits_for(predicated, &registers) {
            continue;
        }
        overlaps[issuer] = before.map(|(before, _)| *before);
        if let [join] = cfg.successors[number][..] {
            in_flight.insert(join, (number, registers));
        }
    }
    overlaps
}

/// Returns true if an instruction waits until these registers have been loaded. A store to local memory does not, because
/// the assembler moves loads from global memory up before it.
fn waits_for(insts: &[IrInst], loaded: &HashSet<Register>) -> bool {
    let is_local_store = |inst: &IrInst| {
        let access = inst.access;
        access.is_some_and(|access| {
            access.kind == AccessKind::Store && access.memory == Memory::Local
        })
    };
    insts.iter().any(|inst| {
        let uses = || inst.uses.iter().any(|used| loaded.contains(used));
        inst.barrier || (uses() && !is_local_store(inst))
    })
}

/// Returns, for each block, whether a branch at its end remains a branch in machine code: its sides are not
/// predicated and neither side only ends the thread.
pub fn machine_branches(issued_by: &[Option<usize>], insts: &[IrInst], cfg: &Cfg) -> Vec<bool> {
    let mut machine_branches: Vec<bool> = cfg
        .successors
        .iter()
        .map(|sides| !sides.iter().any(|&side| cfg.only_exits(side, insts)))
        .collect();
    for &block in issued_by.iter().flatten() {
        machine_branches[block] = false;
    }
    machine_branches
}

/// One side of a branch: the blocks reachable only through it, and the block where it ends.
struct Side {
    blocks: Vec<usize>,
    instructions: u32,
    /// True if the arm loads from global memory.
    loads: bool,
    end: usize,
}

impl Side {
    fn from(start: usize, insts: &[IrInst], cfg: &Cfg, in_degrees: &[u32]) -> Side {
        let mut side = Side {
            blocks: Vec::new(),
            instructions: 0,
            loads: false,
            end: start,
        };
        while let [next] = cfg.successors[side.end][..]
            && in_degrees[side.end] == 1
            && side.instructions <= MAX_PREDICATED_INSTRUCTIONS
        {
            let inside = &insts[cfg.ranges[side.end].clone()];
            let stops = (0..inside.len()).any(|index| !can_be_predicated(inside, index));
            if stops {
                break;
            }
            let counted = inside
                .iter()
                .filter(|inst| inst.starts_ptx_inst && inst.flow == Flow::Next);
            side.instructions += counted.count() as u32;
            side.loads |= inside.iter().filter_map(|inst| inst.access).any(|access| {
                access.kind.is_load() && matches!(access.memory, Memory::Global | Memory::Generic)
            });
            side.blocks.push(side.end);
            side.end = next;
        }
        side
    }
}

/// Returns true if the instruction can be predicated. Barriers, calls and atomics cannot; square roots and
/// divisions are short routines with branches of their own.
fn can_be_predicated(block: &[IrInst], index: usize) -> bool {
    let inst = &block[index];
    let is_guard = block.get(index + 1).is_some_and(|next| next.predicated);
    let jumps = matches!(inst.flow, Flow::Jump(_));
    let has_side_effect = inst.class == Class::Control && !is_guard && !jumps;
    let atomic = inst.access.is_some_and(|access| access.kind.is_atomic());
    let is_routine = inst.class == Class::Special && inst.flops > 0;
    !(has_side_effect || atomic || is_routine || inst.barrier)
}

/// Skips empty blocks, which arise where a label follows a branch, and returns the next block that has
/// instructions.
fn skip_empty_blocks(mut block: usize, cfg: &Cfg) -> usize {
    for _ in 0..MAX_CHAIN_BLOCKS {
        match cfg.successors[block][..] {
            [next] if cfg.ranges[block].is_empty() && next > block => block = next,
            _ => break,
        }
    }
    block
}

/// The dominator tree, as the entry and exit times of a depth-first traversal.
struct DominatorTree {
    /// The times at which the traversal enters and leaves each block; `None` for unreachable blocks.
    visits: Vec<Option<(usize, usize)>>,
}

impl DominatorTree {
    fn of(cfg: &Cfg) -> DominatorTree {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = cfg.ranges.iter().map(|_| graph.add_node(())).collect();
        for (block, next) in cfg.successors.iter().enumerate() {
            for &successor in next {
                graph.add_edge(nodes[block], nodes[successor], ());
            }
        }
        let dominators = dominators::simple_fast(&graph, nodes[0]);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &node in &nodes {
            if let Some(above) = dominators.immediate_dominator(node) {
                children[above.index()].push(node.index());
            }
        }
        let mut visits = vec![None; nodes.len()];
        let mut time = 0;
        let mut open = vec![0];
        while let Some(&block) = open.last() {
            time += 1;
            match &mut visits[block] {
                // All children have been visited.
                Some((_, exit)) => {
                    *exit = time;
                    open.pop();
                }
                entry => {
                    *entry = Some((time, time));
                    open.extend(&children[block]);
                }
            }
        }
        DominatorTree { visits }
    }

    /// Returns true if `dominator` dominates `block`.
    fn dominates(&self, dominator: usize, block: usize) -> bool {
        match (self.visits[dominator], self.visits[block]) {
            (Some((entry, exit)), Some((time, _))) => (entry..=exit).contains(&time),
            _ => false,
        }
    }
}

/// Returns true if the straight-line code from `start` ends in a back edge to a loop header.
fn ends_in_back_edge(start: usize, cfg: &Cfg, above: &DominatorTree) -> bool {
    let mut block = start;
    for _ in 0..MAX_CHAIN_BLOCKS {
        let is_back_edge = |next: usize| above.dominates(skip_empty_blocks(next, cfg), block);
        match cfg.successors[block][..] {
            [next] if next != start && !is_back_edge(next) => block = next,
            ref next => return next.iter().any(|&next| is_back_edge(next)),
        }
    }
    // An irreducible loop has no header.
    false
}

/// Records the result in each atomic.
pub fn annotate_atomics(insts: &mut [IrInst], cfg: &Cfg, registers: &[RegisterInfo]) {
    let is_atomic = |inst: &IrInst| inst.access.is_some_and(|access| access.kind.is_atomic());
    if !insts.iter().any(is_atomic) {
        return;
    }
    let uses = insts.iter().flat_map(|inst| &inst.uses);
    let used: HashSet<Register> = uses.copied().collect();
    let uniform = uniformity::uniform_registers(insts, cfg, registers);
    for inst in insts.iter_mut() {
        let operation = Atomic::from_code(inst.arg0);
        let Some(access) = &mut inst.access else {
            continue;
        };
        if !access.kind.is_atomic() {
            continue;
        }
        let [address, value] = [1, 2].map(|operand: usize| inst.operands[operand]);
        let is_uniform = |register: Register| uniform[register.0 as usize];
        let result_used = inst.defs.iter().any(|def| used.contains(def));
        if !result_used && operation.has_reduction() {
            access.kind = AccessKind::Reduction;
        }
        let adds_one = operation == Atomic::Add && registers[value.0 as usize].literal == Some(1);
        access.update = Update {
            method: match access.memory {
                Memory::Shared => shared_method(operation, access.bytes, result_used, adds_one),
                _ if operation == Atomic::CompareAndSwap => AtomicMethod::CompareAndSwap,
                _ => AtomicMethod::SingleInstruction,
            },
            combined: is_uniform(address)
                && combines_lanes(operation, access.bytes, result_used, is_uniform(value)),
        };
    }
}

fn shared_method(operation: Atomic, bytes: u32, result_used: bool, adds_one: bool) -> AtomicMethod {
    use Atomic::*;
    match (operation, bytes) {
        (CompareAndSwap, _) => AtomicMethod::CompareAndSwap,
        (Exchange, _) => AtomicMethod::SingleInstruction,
        (AddFloat | AddHalf | AddBrain, _) => AtomicMethod::CasLoop,
        // PTX has these in global memory only.
        (MinHalf | MaxHalf | MinBrain | MaxBrain, _) => AtomicMethod::CasLoop,
        (MinUnsigned | MaxUnsigned | MinSigned | MaxSigned, 8) => AtomicMethod::CasLoopIfChanged,
        (_, 8) => AtomicMethod::CasLoop,
        (Add, _) if adds_one && !result_used => AtomicMethod::Popcount,
        _ => AtomicMethod::SingleInstruction,
    }
}

/// Returns true if lanes with a uniform address combine their values before one lane accesses memory.
fn combines_lanes(operation: Atomic, bytes: u32, result_used: bool, uniform_value: bool) -> bool {
    use Atomic::*;
    match operation {
        Add => bytes == 4 || uniform_value,
        And | Or | Xor | MinUnsigned | MaxUnsigned | MinSigned | MaxSigned => {
            bytes == 4 && !result_used
        }
        Exchange | CompareAndSwap | Increment | Decrement => false,
        AddFloat | AddHalf | AddBrain | MinHalf | MaxHalf | MinBrain | MaxBrain => false,
    }
}

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
        let mut stall = match inst.sync_event {
            CheckEvent::Fence(scope) => Some(Stall::Fence(scope)),
            _ => device_runtime::long_call(inst.handlers.warp).map(Stall::Call),
        };
        let orders_accesses = inst.barrier || stall.is_some_and(Stall::is_long);
        if access.is_some() || orders_accesses {
            dependences.extend(barrier);
        }
        if orders_accesses {
            dependences.append(&mut stores);
            barrier = Some(index);
        }
        let others = dependences.len();
        let groups_in_flight = match inst.copy_group_op {
            CopyGroupOp::None => None,
            CopyGroupOp::Commit => {
                closed_groups += 1;
                None
            }
            CopyGroupOp::WaitGroups(pending) => {
                let is_complete =
                    |&mut (_, group): &mut (u32, u32)| group + pending < closed_groups;
                dependences.extend(
                    pending_copies
                        .extract_if(.., is_complete)
                        .map(|(copy, _)| copy),
                );
                Some(pending)
            }
            CopyGroupOp::WaitAll => {
                dependences.extend(pending_copies.drain(..).map(|(copy, _)| copy));
                Some(0)
            }
        };
        if let Some(groups) = groups_in_flight {
            // The awaited copies are in earlier blocks.
            if dependences.len() == others {
                stall = Some(Stall::Copies(groups));
            }
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
            stall,
            n8_tiles: inst.n8_tiles,
            has_no_sources: inst.uses.is_empty() && !inst.defs.is_empty(),
            dependences,
        });
        next_slot += site.filter(|_| is_counted).map_or(0, SiteKind::slot_count);
    }
    steps
}

#[cfg(test)]
mod tests;
