//! Regions to compile: the parts of a function that machine code can execute for a few lanes at a time.
//!
//! A region has one entry and one exit. It is the largest set of blocks between a block and one of its post-dominators
//! in which every instruction has an operation, every branch is uniform over a warp, and no memory is both loaded from
//! and stored to; or, if no such set exists, a run of instructions of one block (see [`crate::exec::compiled`]).

use super::analysis::uniformity;
use super::cfg::Cfg;
use super::ir::{Flow, IrInst, RegisterInfo};
use crate::exec::compiled::{Block, Function, Instruction, Region, RegisterRow};
use crate::isa::Memory;
use crate::isa::operation::{Operation, Transfer};
use std::collections::{BTreeSet, HashSet};

/// The minimum number of instructions of a region without a loop. Shorter ones cost as much as they save.
const MIN_INSTRUCTIONS: usize = 3;

/// The limit on blocks times registers, beyond which a function stays interpreted: finding its regions would delay the
/// loading of the module.
const MAX_LIVENESS_BITS: usize = 1 << 22;

/// The maximum number of blocks of a region, for the same reason.
const MAX_BLOCKS: usize = 128;

/// Returns a function for the compiler. `address` returns the address of a block's `enter` instruction, and
/// `first_block` is the program-wide number of the first block.
pub fn function(
    insts: &[IrInst],
    cfg: &Cfg,
    registers: &[RegisterInfo],
    offsets: &[u32],
    first_block: usize,
    address: impl Fn(usize) -> u32,
) -> Function {
    if cfg.ranges.len().saturating_mul(registers.len()) > MAX_LIVENESS_BITS {
        return Function::default();
    }
    let (mut uniform, divergent) = uniformity::uniform_and_divergent(insts, cfg, registers);
    let in_loop = cfg.in_cycle();
    exclude_iterations(&mut uniform, insts, cfg, |block| {
        divergent[block] && in_loop[block]
    });
    let mut definitions = vec![0; registers.len()];
    for def in insts.iter().flat_map(|inst| &inst.defs) {
        definitions[def.0 as usize] += 1;
    }
    let rows = registers.iter().enumerate().map(|(n, info)| RegisterRow {
        class: info.row,
        offset: offsets[n],
        literal: info.literal,
        uniform: uniform[n],
        definitions: definitions[n],
    });
    let instructions = insts.iter().map(|inst| Instruction {
        operation: inst.operation,
        defs: inst.defs.iter().map(|def| def.0).collect(),
        uses: inst.uses.iter().map(|used| used.0).collect(),
        imm: inst.imm,
        predicated: inst.predicated,
    });
    let blocks = cfg.ranges.iter().enumerate().map(|(n, range)| Block {
        first: range.start,
        end: range.end,
        number: (first_block + n) as u32,
        address: address(n),
        successors: cfg.successors[n].clone(),
        divergent: divergent[n],
        in_loop: in_loop[n],
    });
    let mut function = Function {
        instructions: instructions.collect(),
        blocks: blocks.collect(),
        registers: rows.collect(),
        regions: Vec::new(),
    };
    function.regions = RegionFinder::new(&function, insts, cfg).find();
    function
}

/// Removes registers that lanes may have set in different iterations of a loop from the uniform ones: those defined in
/// blocks for which `is_uneven` returns true, and all that depend on them.
fn exclude_iterations(
    uniform: &mut [bool],
    insts: &[IrInst],
    cfg: &Cfg,
    is_uneven: impl Fn(usize) -> bool,
) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (block, range) in cfg.ranges.iter().enumerate() {
            for inst in &insts[range.clone()] {
                let mut uses = inst.uses.iter();
                if is_uneven(block) || uses.any(|used| !uniform[used.0 as usize]) {
                    for def in &inst.defs {
                        changed |= std::mem::replace(&mut uniform[def.0 as usize], false);
                    }
                }
            }
        }
    }
}

/// The search for the regions of a function.
struct RegionFinder<'f> {
    function: &'f Function,
    insts: &'f [IrInst],
    cfg: &'f Cfg,
    predecessors: Vec<Vec<usize>>,
    /// The registers that are live at the start of each block.
    live: Vec<BTreeSet<u32>>,
}

impl<'f> RegionFinder<'f> {
    fn new(function: &'f Function, insts: &'f [IrInst], cfg: &'f Cfg) -> RegionFinder<'f> {
        let mut predecessors = vec![Vec::new(); function.blocks.len()];
        for (block, successors) in cfg.successors.iter().enumerate() {
            for &successor in successors {
                predecessors[successor].push(block);
            }
        }
        let mut finder = RegionFinder {
            function,
            insts,
            cfg,
            predecessors,
            live: vec![BTreeSet::new(); function.blocks.len()],
        };
        finder.compute_liveness();
        finder
    }

    fn compute_liveness(&mut self) {
        let mut open: BTreeSet<usize> = (0..self.function.blocks.len()).collect();
        while let Some(block) = open.pop_last() {
            let live = self.live_at(block, self.function.blocks[block].first);
            if live != self.live[block] {
                self.live[block] = live;
                open.extend(&self.predecessors[block]);
            }
        }
    }

    /// Returns the registers that are live before instruction `index` of a block.
    fn live_at(&self, block: usize, index: usize) -> BTreeSet<u32> {
        let successors = &self.cfg.successors[block];
        let mut live: BTreeSet<u32> = successors
            .iter()
            .flat_map(|&successor| self.live[successor].iter().copied())
            .collect();
        for inst in self.function.instructions[index..self.function.blocks[block].end]
            .iter()
            .rev()
        {
            // A guarded definition does not kill the previous one.
            if !inst.predicated {
                inst.defs.iter().for_each(|def| {
                    live.remove(def);
                });
            } else {
                live.extend(&inst.defs);
            }
            let registers = &self.function.registers;
            let variables = inst.uses.iter().copied();
            live.extend(variables.filter(|&used| registers[used as usize].literal.is_none()));
        }
        live
    }

    fn find(&self) -> Vec<Region> {
        let mut regions = Vec::new();
        let mut covered = vec![false; self.function.blocks.len()];
        for block in 0..self.function.blocks.len() {
            if covered[block] {
                continue;
            }
            let range = self.cfg.ranges[block].clone();
            let mut index = range.start;
            while index < range.end {
                if let Some(blocks) = self.blocks_from(block, index, &covered) {
                    for &inside in &blocks.inside {
                        covered[inside] = true;
                    }
                    regions.push(self.region_of_blocks(index, blocks));
                    break;
                }
                let end = self.run_end(index, range.end);
                if end - index >= MIN_INSTRUCTIONS {
                    regions.push(self.region_of_run(block, index, end));
                }
                index = end.max(index + 1);
            }
        }
        regions
    }

    /// Returns the end of the run of instructions with operations from `index` on.
    fn run_end(&self, index: usize, limit: usize) -> usize {
        let mut accessed = AccessedMemories::default();
        let mut end = index;
        while end < limit {
            let inst = &self.function.instructions[end];
            // A guard and the instruction that it restricts stay together.
            let group = 1 + usize::from(matches!(inst.operation, Some(Operation::Guard { .. })));
            let insts = &self.function.instructions[end..(end + group).min(limit)];
            let fits = insts.iter().all(|inst| match inst.operation {
                None | Some(Operation::Jump | Operation::Branch { .. }) => false,
                Some(operation) => accessed.admits(operation),
            });
            if !fits {
                break;
            }
            end += group;
        }
        end
    }

    fn region_of_run(&self, block: usize, first: usize, end: usize) -> Region {
        let address = self.function.blocks[block].address + 1;
        let of = |index: usize| address + (index - self.function.blocks[block].first) as u32;
        let live = self.live_at(block, end);
        self.region(first, Some(end), vec![block], of(first), of(end), &live)
    }

    fn region_of_blocks(&self, first: usize, blocks: Blocks) -> Region {
        let entry = &self.function.blocks[blocks.inside[0]];
        let address = entry.address + 1 + (first - entry.first) as u32;
        let exit = self.function.blocks[blocks.exit].address;
        let live = &self.live[blocks.exit];
        self.region(first, None, blocks.inside, address, exit, live)
    }

    fn region(
        &self,
        first: usize,
        end: Option<usize>,
        blocks: Vec<usize>,
        address: u32,
        exit: u32,
        live_after: &BTreeSet<u32>,
    ) -> Region {
        let (mut used, mut defined) = (BTreeSet::new(), BTreeSet::new());
        for (n, &block) in blocks.iter().enumerate() {
            let block = &self.function.blocks[block];
            let start = if n == 0 { first } else { block.first };
            for inst in &self.function.instructions[start..end.unwrap_or(block.end)] {
                used.extend(&inst.uses);
                defined.extend(&inst.defs);
            }
        }
        let live_before = self.live_at(blocks[0], first);
        Region {
            first,
            end,
            blocks,
            address,
            exit,
            live_in: used
                .union(&defined)
                .filter(|register| live_before.contains(register))
                .copied()
                .collect(),
            live_out: defined.intersection(live_after).copied().collect(),
        }
    }

    /// Returns the largest set of blocks that can be a region from instruction `first` of `block` on.
    fn blocks_from(&self, block: usize, first: usize, covered: &[bool]) -> Option<Blocks> {
        let mut largest = None;
        let mut exit = block;
        while let Some(next) = self.cfg.reconvergence[exit] {
            exit = next;
            match self.blocks_between(block, first, exit, covered) {
                Some(blocks) => {
                    let is_large = blocks.inside.len() >= MAX_BLOCKS;
                    largest = Some(blocks);
                    if is_large {
                        break;
                    }
                }
                None => break,
            }
        }
        largest.filter(|blocks| {
            let count: usize = blocks
                .inside
                .iter()
                .map(|&b| self.cfg.ranges[b].len())
                .sum();
            blocks.has_loop || count >= MIN_INSTRUCTIONS
        })
    }

    /// Returns the blocks from `block` up to `exit` if they can be a region.
    fn blocks_between(
        &self,
        block: usize,
        first: usize,
        exit: usize,
        covered: &[bool],
    ) -> Option<Blocks> {
        let is_whole = first == self.cfg.ranges[block].start;
        let mut inside = HashSet::from([block]);
        // Blocks in postorder, for a depth-first search from the entry.
        let mut postorder = Vec::new();
        let mut open = vec![(block, 0)];
        let mut on_path = HashSet::from([block]);
        let mut back_edges = Vec::new();
        while let Some((current, step)) = open.last_mut() {
            let current = *current;
            match self.cfg.successors[current].get(*step) {
                Some(&successor) => {
                    *step += 1;
                    if successor == exit {
                        continue;
                    }
                    if on_path.contains(&successor) {
                        back_edges.push((current, successor));
                    }
                    if inside.insert(successor) {
                        open.push((successor, 0));
                        on_path.insert(successor);
                    }
                }
                None => {
                    postorder.push(current);
                    on_path.remove(&current);
                    open.pop();
                }
            }
        }
        if inside.contains(&exit) || inside.iter().any(|&b| covered[b]) {
            return None;
        }
        let enters_elsewhere = |b: usize| self.predecessors[b].iter().any(|p| !inside.contains(p));
        if inside.iter().any(|&b| b != block && enters_elsewhere(b)) {
            return None;
        }
        if !is_whole && back_edges.iter().any(|&(_, to)| to == block) {
            return None;
        }
        let ordered: Vec<usize> = postorder.into_iter().rev().collect();
        let start_of = |b: usize| {
            if b == block {
                first
            } else {
                self.cfg.ranges[b].start
            }
        };
        let mut accessed = AccessedMemories::default();
        let has_loop = !back_edges.is_empty();
        for &b in &ordered {
            let range = start_of(b)..self.cfg.ranges[b].end;
            // Control that leaves the function or has no known target stays with the interpreter.
            if self.cfg.successors[b].is_empty() {
                return None;
            }
            for inst in &self.function.instructions[range.clone()] {
                if !accessed.admits(inst.operation?) {
                    return None;
                }
            }
            if let Some(last) = self.insts[range].last()
                && let Flow::Branch(_) = last.flow
            {
                let predicate = last.uses[0].0;
                let is_uniform = self.function.registers[predicate as usize].uniform;
                if !is_uniform
                    || has_loop && self.depends_on_memory(predicate, &ordered, block, first)
                {
                    return None;
                }
            }
        }
        // A loop would repeat its stores.
        if has_loop && !accessed.stored.is_empty() {
            return None;
        }
        Some(Blocks {
            inside: ordered,
            exit,
            has_loop,
        })
    }

    /// Returns true if the value of a register may depend on a load in these blocks: a loop that such a value controls
    /// may wait for other threads.
    fn depends_on_memory(
        &self,
        register: u32,
        blocks: &[usize],
        entry: usize,
        first: usize,
    ) -> bool {
        let (mut open, mut seen) = (vec![register], HashSet::from([register]));
        while let Some(register) = open.pop() {
            for &block in blocks {
                let start = if block == entry {
                    first
                } else {
                    self.cfg.ranges[block].start
                };
                for inst in &self.function.instructions[start..self.cfg.ranges[block].end] {
                    if !inst.defs.contains(&register) {
                        continue;
                    }
                    if let Some(Operation::Load(transfer)) = inst.operation
                        && transfer.memory != Memory::Constant
                    {
                        return true;
                    }
                    open.extend(inst.uses.iter().filter(|used| seen.insert(**used)));
                }
            }
        }
        false
    }
}

/// The blocks of a region.
struct Blocks {
    inside: Vec<usize>,
    exit: usize,
    has_loop: bool,
}

/// The memories that instructions access. A region must not both load from a memory and store to it: the chunks of a
/// warp would observe each other, and a chunk could not be repeated. Nor must it store to a memory twice: two stores might
/// overlap, and the last one in the order of the chunks would win.
#[derive(Default)]
struct AccessedMemories {
    loaded: Vec<Memory>,
    stored: Vec<Memory>,
}

impl AccessedMemories {
    /// Adds an instruction. Returns false if it does not belong into a region with those before it.
    fn admits(&mut self, operation: Operation) -> bool {
        let Some((Transfer { memory, .. }, is_store)) = operation.transfer() else {
            return true;
        };
        let (into, others) = match is_store {
            true => (&mut self.stored, &self.loaded),
            false => (&mut self.loaded, &self.stored),
        };
        let conflicts = |&other: &Memory| other.may_alias(memory);
        if others.iter().any(conflicts) || is_store && into.iter().any(conflicts) {
            return false;
        }
        into.push(memory);
        true
    }
}
