//! Liveness analysis: the interval of instructions over which each virtual register is live.
//!
//! A classic backward data-flow analysis over the CFG computes the live-in and live-out sets of each block. The
//! register allocator needs one interval per register only, so the sets are collapsed into intervals.

use super::cfg::Cfg;
use super::ir::IrInst;
use super::limits;
use super::register::{Register, RegisterInfo};

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
pub fn intervals(
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
