//! Register allocation: linear scan over live intervals assigns each virtual register to a row of the frame.
//! Registers with disjoint intervals share a row, because a small frame stays in the CPU's L1 cache.
//!
//! A classic backward data-flow analysis over the CFG computes the live-in and live-out sets of each block. The
//! allocator needs one interval per register only, so the sets are collapsed into intervals.

use super::analysis::uniformity::RowOwner;
use super::cfg::Cfg;
use super::ir::{IrInst, Register, RegisterClass, RegisterInfo};
use super::limits;
use crate::exec::warp::window::{Literal, UniformRows};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The result of register allocation.
pub struct Assignment {
    /// The offset of each register's row in the frame, in bytes.
    pub offsets: Vec<u32>,
    pub frame_bytes: u32,
    pub literals: Vec<Literal>,
    /// The parts of the frame whose rows all warps of a block share.
    pub common: UniformRows,
    /// The maximum number of 32-bit registers that are live at the same time, per thread.
    pub pressure: u32,
}

/// Assigns a row to each register. Two registers share a row only if their live intervals are disjoint and,
/// according to `row_owners`, both are shared by the warps of a block or neither is.
///
/// Divergence needs no extra care: writes are masked by lane, so values written on one side of a branch
/// cannot clobber the rows of lanes on the other side.
///
/// # Errors
/// Returns a message if the frame is too large or the control flow is too complex for liveness analysis.
pub fn assign(
    registers: &[RegisterInfo],
    row_owners: &[RowOwner],
    insts: &[IrInst],
    cfg: &Cfg,
) -> Result<Assignment, String> {
    let intervals = intervals(registers, insts, cfg)?;
    let mut by_start: Vec<usize> = (0..registers.len())
        .filter(|&r| intervals[r].is_some())
        .collect();
    by_start.sort_by_key(|&r| intervals[r].map_or(0, |interval| interval.from));

    let mut slots = vec![0; registers.len()];
    let is_common = |r: usize| row_owners[r] != RowOwner::Warps;
    let mut pools: [[Pool; 3]; 2] = Default::default();
    let (mut pressure, mut max_pressure) = (0, 0);
    // The end and the size in words of each live interval; the one that ends first is on top.
    let mut live: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    for r in by_start {
        let Some(interval) = intervals[r] else {
            continue;
        };
        let row = registers[r].row;
        slots[r] = pools[usize::from(is_common(r))][row as usize].take(interval);
        let words = match row {
            RegisterClass::Predicate => 0,
            RegisterClass::Narrow => 1,
            RegisterClass::Wide => 2,
        };
        while let Some(&Reverse((to, words))) = live.peek()
            && to <= interval.from
        {
            live.pop();
            pressure -= words;
        }
        live.push(Reverse((interval.to, words)));
        pressure += words;
        max_pressure = max_pressure.max(pressure);
    }

    let mut layout = FrameLayout::default();
    let mut rows = |row: RegisterClass, bytes: u32| {
        [0, 1].map(|common: usize| layout.section(pools[common][row as usize].len, bytes))
    };
    let (wide, narrow) = (
        rows(RegisterClass::Wide, 256),
        rows(RegisterClass::Narrow, 128),
    );
    let literals_of = |row: RegisterClass| {
        registers
            .iter()
            .enumerate()
            .filter(move |(_, r)| r.literal.is_some() && r.row == row)
    };
    let mut literals = Vec::new();
    let mut offsets = vec![0; registers.len()];
    for (row, size) in [(RegisterClass::Wide, 256), (RegisterClass::Narrow, 128)] {
        for (r, info) in literals_of(row) {
            let offset = layout.section(1, size);
            offsets[r] = offset;
            let bits = info.literal.unwrap_or(0);
            literals.push(Literal {
                offset,
                bits,
                wide: row == RegisterClass::Wide,
                predicate: false,
            });
        }
    }
    let mut rows = |row: RegisterClass, bytes: u32| {
        [0, 1].map(|common: usize| layout.section(pools[common][row as usize].len, bytes))
    };
    let predicates = rows(RegisterClass::Predicate, 4);
    for (r, info) in literals_of(RegisterClass::Predicate) {
        let offset = layout.section(1, 4);
        offsets[r] = offset;
        let bits = info.literal.unwrap_or(0);
        literals.push(Literal {
            offset,
            bits,
            wide: false,
            predicate: true,
        });
    }
    if layout.bytes > limits::FRAME_BYTES {
        return Err(format!(
            "the function's live registers and literals require {} bytes per warp, but at most {} \
             are allowed: split it into several functions",
            layout.bytes,
            limits::FRAME_BYTES
        ));
    }
    for (r, info) in registers.iter().enumerate() {
        if info.literal.is_none() {
            let common = usize::from(is_common(r));
            offsets[r] = match info.row {
                RegisterClass::Wide => wide[common] + slots[r] * 256,
                RegisterClass::Narrow => narrow[common] + slots[r] * 128,
                RegisterClass::Predicate => predicates[common] + slots[r] * 4,
            };
        }
    }
    let frame_bytes = (layout.bytes as u32).max(256);
    let [_, common] = &pools;
    let range = |start: u32, row: RegisterClass, bytes: u32| {
        start..start + common[row as usize].len * bytes
    };
    let common = UniformRows {
        wide: range(wide[1], RegisterClass::Wide, 256),
        narrow: range(narrow[1], RegisterClass::Narrow, 128),
        predicates: range(predicates[1], RegisterClass::Predicate, 4),
    };
    Ok(Assignment {
        offsets,
        frame_bytes,
        literals,
        common,
        pressure: max_pressure,
    })
}

/// A frame that grows from offset 0.
#[derive(Default)]
struct FrameLayout {
    bytes: u64,
}

impl FrameLayout {
    /// Reserves `count` rows of `size` bytes. Returns their offset, which is meaningless if the frame exceeds
    /// its limit.
    fn section(&mut self, count: u32, size: u32) -> u32 {
        let offset = self.bytes as u32;
        self.bytes += u64::from(count) * u64::from(size);
        offset
    }
}

/// The rows of one class.
#[derive(Default)]
struct Pool {
    /// The number of rows.
    len: u32,
    /// The free rows, the lowest number on top.
    free: BinaryHeap<Reverse<u32>>,
    /// The end of use and the number of each occupied row; the row that becomes free first is on top.
    taken: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Pool {
    /// Returns a row that is free for the whole interval.
    fn take(&mut self, interval: Interval) -> u32 {
        while let Some(&Reverse((until, row))) = self.taken.peek()
            && until <= interval.from
        {
            self.taken.pop();
            self.free.push(Reverse(row));
        }
        let row = match self.free.pop() {
            Some(Reverse(row)) => row,
            None => {
                self.len += 1;
                self.len - 1
            }
        };
        self.taken.push(Reverse((interval.to, row)));
        row
    }
}

/// A live interval in the positions of [`intervals`], as a half-open range.
#[derive(Clone, Copy)]
pub struct Interval {
    pub from: u32,
    pub to: u32,
}

/// Computes the live interval of each register; `None` for a register that is never used or defined.
///
/// An instruction at index `n` reads at position `2n` and writes at `2n + 1`, so the row of a register that
/// is read for the last time may be reused for the result of the same instruction.
fn intervals(
    registers: &[RegisterInfo],
    insts: &[IrInst],
    cfg: &Cfg,
) -> Result<Vec<Option<Interval>>, String> {
    let mut intervals: Vec<Option<Interval>> = vec![None; registers.len()];
    let mut extend = |register: Register, position: u32| {
        let interval = &mut intervals[register.0 as usize];
        *interval = Some(match *interval {
            None => Interval {
                from: position,
                to: position + 1,
            },
            Some(old) => Interval {
                from: old.from.min(position),
                to: old.to.max(position + 1),
            },
        });
    };
    for (n, inst) in insts.iter().enumerate() {
        let n = n as u32;
        let several = inst.defs.len() > 1;
        for &register in &inst.defs {
            extend(register, 2 * n + 1);
        }
        for &register in &inst.uses {
            // With several results, the handler may write the first before it reads the last source.
            extend(register, 2 * n + u32::from(several));
        }
    }
    let live = Liveness::of(registers.len(), insts, cfg)?;
    for (block, range) in cfg.ranges.iter().enumerate() {
        for register in live.live_in(block) {
            extend(register, 2 * range.start as u32);
        }
        for register in live.live_out(block) {
            extend(register, 2 * range.end as u32);
        }
    }
    Ok(intervals)
}

/// Live-in and live-out sets of basic blocks. The bit sets cover only registers that are live across a block
/// boundary, because most registers are used in one block only.
struct Liveness {
    /// The registers that are live across a block boundary.
    across: Vec<Register>,
    /// The number of 64-bit words in a set.
    words: usize,
    /// The live-in set of each block.
    live_in_sets: Vec<u64>,
    /// The live-out set of each block.
    live_out_sets: Vec<u64>,
}

/// The index of a register that is not live across any block boundary.
const LOCAL: u32 = u32::MAX;

impl Liveness {
    fn of(registers: usize, insts: &[IrInst], cfg: &Cfg) -> Result<Liveness, String> {
        let (across, indices) = across(registers, insts, cfg);
        let words = across.len().div_ceil(64);
        let blocks = cfg.ranges.len();
        if blocks * words > limits::LIVE_WORDS {
            return Err(format!(
                "the function has {blocks} basic blocks and {} registers that are live across them, \
                 which is too many to analyze: split it into several functions",
                across.len()
            ));
        }
        let mut upward_exposed = vec![0; blocks * words];
        let mut killed = vec![0; blocks * words];
        let bit_of = |register: Register| {
            let index = indices[register.0 as usize];
            (index != LOCAL).then_some((index as usize / 64, 1u64 << (index % 64)))
        };
        for (block, range) in cfg.ranges.iter().enumerate() {
            let row = block * words..(block + 1) * words;
            let (upward_exposed, killed) = (&mut upward_exposed[row.clone()], &mut killed[row]);
            for inst in &insts[range.clone()] {
                for (word, bit) in inst.uses.iter().filter_map(|&used| bit_of(used)) {
                    if killed[word] & bit == 0 {
                        upward_exposed[word] |= bit;
                    }
                }
                for (word, bit) in inst.defs.iter().filter_map(|&def| bit_of(def)) {
                    if !inst.predicated {
                        killed[word] |= bit;
                    } else if killed[word] & bit == 0 {
                        // A guarded definition leaves the other lanes' old values live.
                        upward_exposed[word] |= bit;
                    }
                }
            }
        }
        let mut live = Liveness {
            across,
            words,
            live_in_sets: upward_exposed,
            live_out_sets: vec![0; blocks * words],
        };
        live.propagate(&killed, cfg)?;
        Ok(live)
    }

    /// Propagates live-out sets backward with a worklist until a fixed point is reached.
    fn propagate(&mut self, killed: &[u64], cfg: &Cfg) -> Result<(), String> {
        let (words, blocks) = (self.words, cfg.ranges.len());
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        for (block, next) in cfg.successors.iter().enumerate() {
            for &successor in next {
                predecessors[successor].push(block);
            }
        }
        let mut steps = 0;
        // The worklist is a stack: the last block comes first, which suits a backward analysis.
        let mut worklist: Vec<usize> = (0..blocks).collect();
        let mut in_worklist = vec![true; blocks];
        while let Some(block) = worklist.pop() {
            in_worklist[block] = false;
            steps += words * (1 + cfg.successors[block].len());
            if steps > limits::STEPS {
                return Err(
                    "the function's control flow is too complex for liveness analysis: \
                            split it into several functions"
                        .to_owned(),
                );
            }
            let mut changed = false;
            for word in 0..words {
                let index = block * words + word;
                let live_out = cfg.successors[block].iter().fold(0, |bits, &next| {
                    bits | self.live_in_sets[next * words + word]
                });
                let live_in = self.live_in_sets[index] | (live_out & !killed[index]);
                changed |= live_in != self.live_in_sets[index];
                self.live_in_sets[index] = live_in;
                self.live_out_sets[index] = live_out;
            }
            for &other in predecessors[block].iter().filter(|_| changed) {
                if !std::mem::replace(&mut in_worklist[other], true) {
                    worklist.push(other);
                }
            }
        }
        Ok(())
    }

    /// Returns the registers that are live at the start of a block.
    fn live_in(&self, block: usize) -> impl Iterator<Item = Register> {
        self.registers_in(&self.live_in_sets[block * self.words..(block + 1) * self.words])
    }

    /// Returns the registers that are live at the end of a block.
    fn live_out(&self, block: usize) -> impl Iterator<Item = Register> {
        self.registers_in(&self.live_out_sets[block * self.words..(block + 1) * self.words])
    }

    /// Iterates over the registers in a set.
    fn registers_in(&self, bits: &[u64]) -> impl Iterator<Item = Register> {
        bits.iter().enumerate().flat_map(move |(word, &bits)| {
            let mut remaining = bits;
            std::iter::from_fn(move || {
                let bit = remaining.trailing_zeros() as usize;
                // Clears the lowest set bit; ends the iteration if no bit is set.
                remaining &= remaining.checked_sub(1)?;
                Some(self.across[word * 64 + bit])
            })
        })
    }
}

/// Returns the registers that some block reads before it writes them (upward-exposed uses), and for each
/// register its index among them or [`LOCAL`].
fn across(registers: usize, insts: &[IrInst], cfg: &Cfg) -> (Vec<Register>, Vec<u32>) {
    let mut across = Vec::new();
    let mut indices = vec![LOCAL; registers];
    // One more than the number of the last block that wrote each register; 0 if none has.
    let mut written = vec![0; registers];
    for (block, range) in (1..).zip(&cfg.ranges) {
        for inst in &insts[range.clone()] {
            let preserved = inst.defs.iter().filter(|_| inst.predicated);
            for &Register(r) in inst.uses.iter().chain(preserved) {
                let index = &mut indices[r as usize];
                if written[r as usize] != block && *index == LOCAL {
                    *index = across.len() as u32;
                    across.push(Register(r));
                }
            }
            for &Register(r) in inst.defs.iter().filter(|_| !inst.predicated) {
                written[r as usize] = block;
            }
        }
    }
    (across, indices)
}
