//! From virtual registers to rows: PTX names a register for every value, a frame has a row for
//! every value that is alive. A small frame stays in the CPU's first cache.

use super::analysis::common::Holder;
use super::flow::{Draft, Graph};
use super::limits;
use crate::exec::function::{CommonRows, Literal};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A virtual register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(pub u32);

/// How a register lies in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Predicate,
    /// 32 bits a lane; narrower values too.
    Narrow,
    /// 64 bits a lane.
    Wide,
}

/// What is known of a virtual register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterInfo {
    pub row: Row,
    /// Bytes as declared; 0 for a predicate.
    pub bytes: u32,
    /// Its value where it never changes.
    pub literal: Option<u64>,
    /// The program names it; it is not one of our own.
    pub declared: bool,
}

/// The frame: where each register lies.
pub struct Assignment {
    /// Byte offset of each register.
    pub offsets: Vec<u32>,
    pub frame_bytes: u32,
    pub literals: Vec<Literal>,
    /// Where in it lies what all warps of a block have in common.
    pub common: CommonRows,
    /// 32-bit registers a thread at the busiest place.
    pub pressure: u32,
}

/// Instructions from the first to the last where a register holds a value that is wanted.
#[derive(Clone, Copy)]
struct Interval {
    from: u32,
    to: u32,
}

/// Gives every register a row. Two share one when they are never wanted at the same time, and are
/// both common to all warps of a block, or neither is, as `holders` says.
///
/// A warp's lanes are independent programs for this purpose: writes are masked, so what one
/// side of a branch keeps in a row the other side's lanes can not disturb.
///
/// # Errors
/// What there is too much of.
pub fn assign(
    registers: &[RegisterInfo],
    holders: &[Holder],
    drafts: &[Draft],
    graph: &Graph,
) -> Result<Assignment, String> {
    let intervals = intervals(registers, drafts, graph)?;
    let mut order: Vec<usize> = (0..registers.len())
        .filter(|&r| intervals[r].is_some())
        .collect();
    order.sort_by_key(|&r| intervals[r].map_or(0, |interval| interval.from));

    let mut slots = vec![0; registers.len()];
    let is_common = |r: usize| holders[r] != Holder::Warps;
    let mut pools: [[Pool; 3]; 2] = Default::default();
    let (mut pressure, mut busiest) = (0, 0);
    // Until when, and how many words; what ends first is on top.
    let mut live: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    for r in order {
        let Some(interval) = intervals[r] else {
            continue;
        };
        let row = registers[r].row;
        slots[r] = pools[usize::from(is_common(r))][row as usize].take(interval);
        let words = match row {
            Row::Predicate => 0,
            Row::Narrow => 1,
            Row::Wide => 2,
        };
        while let Some(&Reverse((to, words))) = live.peek()
            && to <= interval.from
        {
            live.pop();
            pressure -= words;
        }
        live.push(Reverse((interval.to, words)));
        pressure += words;
        busiest = busiest.max(pressure);
    }

    let mut layout = FrameLayout::default();
    let mut rows = |row: Row, bytes: u32| {
        [0, 1].map(|common: usize| layout.section(pools[common][row as usize].len, bytes))
    };
    let (wide, narrow) = (rows(Row::Wide, 256), rows(Row::Narrow, 128));
    let of_row = |row: Row| {
        registers
            .iter()
            .enumerate()
            .filter(move |(_, r)| r.literal.is_some() && r.row == row)
    };
    let mut literals = Vec::new();
    let mut offsets = vec![0; registers.len()];
    for (row, size) in [(Row::Wide, 256), (Row::Narrow, 128)] {
        for (r, info) in of_row(row) {
            let offset = layout.section(1, size);
            offsets[r] = offset;
            let bits = info.literal.unwrap_or(0);
            literals.push(Literal {
                offset,
                bits,
                wide: row == Row::Wide,
                predicate: false,
            });
        }
    }
    let mut rows = |row: Row, bytes: u32| {
        [0, 1].map(|common: usize| layout.section(pools[common][row as usize].len, bytes))
    };
    let predicates = rows(Row::Predicate, 4);
    for (r, info) in of_row(Row::Predicate) {
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
            "the function's registers and literals take {} bytes a warp at its busiest place, {} \
             are allowed: make several functions of it",
            layout.bytes,
            limits::FRAME_BYTES
        ));
    }
    for (r, info) in registers.iter().enumerate() {
        if info.literal.is_none() {
            let common = usize::from(is_common(r));
            offsets[r] = match info.row {
                Row::Wide => wide[common] + slots[r] * 256,
                Row::Narrow => narrow[common] + slots[r] * 128,
                Row::Predicate => predicates[common] + slots[r] * 4,
            };
        }
    }
    let frame_bytes = (layout.bytes as u32).max(256);
    let [_, common] = &pools;
    let range = |start: u32, row: Row, bytes: u32| start..start + common[row as usize].len * bytes;
    let common = CommonRows {
        wide: range(wide[1], Row::Wide, 256),
        narrow: range(narrow[1], Row::Narrow, 128),
        predicates: range(predicates[1], Row::Predicate, 4),
    };
    Ok(Assignment {
        offsets,
        frame_bytes,
        literals,
        common,
        pressure: busiest,
    })
}

#[derive(Default)]
struct FrameLayout {
    bytes: u64,
}

impl FrameLayout {
    /// Room for `count` registers of `size` bytes; its offset, which means nothing in a frame that
    /// is too large.
    fn section(&mut self, count: u32, size: u32) -> u32 {
        let offset = self.bytes as u32;
        self.bytes += u64::from(count) * u64::from(size);
        offset
    }
}

/// Rows of one width, and until when each is taken.
#[derive(Default)]
struct Pool {
    len: u32,
    /// Free rows; the lowest first.
    free: BinaryHeap<Reverse<u32>>,
    /// Taken rows, the one free soonest first.
    taken: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Pool {
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

/// Positions count twice: an instruction at `n` reads at `2n` and writes at `2n + 1`, so a row
/// read for the last time by an instruction may be the one it writes.
fn intervals(
    registers: &[RegisterInfo],
    drafts: &[Draft],
    graph: &Graph,
) -> Result<Vec<Option<Interval>>, String> {
    let mut intervals: Vec<Option<Interval>> = vec![None; registers.len()];
    let mut touch = |register: Register, position: u32| {
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
    for (n, draft) in drafts.iter().enumerate() {
        let n = n as u32;
        let several = draft.defs.len() > 1;
        for &register in &draft.defs {
            touch(register, 2 * n + 1);
        }
        for &register in &draft.uses {
            // With several results the first may be written before the last source is read.
            touch(register, 2 * n + u32::from(several));
        }
    }
    let live = Liveness::of(registers.len(), drafts, graph)?;
    for (block, range) in graph.ranges.iter().enumerate() {
        for register in live.at_start(block) {
            touch(register, 2 * range.start as u32);
        }
        for register in live.at_end(block) {
            touch(register, 2 * range.end as u32);
        }
    }
    Ok(intervals)
}

/// Which registers are wanted where a block begins and ends: the classic backward data flow, over
/// those that any block wants from another. Most registers live inside of one.
struct Liveness {
    across: Vec<Register>,
    words: usize,
    into: Vec<u64>,
    out: Vec<u64>,
}

/// The place of a register among those wanted across blocks; nowhere.
const INSIDE: u32 = u32::MAX;

impl Liveness {
    fn of(registers: usize, drafts: &[Draft], graph: &Graph) -> Result<Liveness, String> {
        let (across, places) = across(registers, drafts, graph);
        let words = across.len().div_ceil(64);
        let blocks = graph.ranges.len();
        if blocks * words > limits::LIVE_WORDS {
            return Err(format!(
                "the function has {blocks} basic blocks and {} registers that live across them, \
                 which is more than is followed: make several functions of it",
                across.len()
            ));
        }
        let mut wanted = vec![0; blocks * words];
        let mut killed = vec![0; blocks * words];
        let bit_of = |register: Register| {
            let place = places[register.0 as usize];
            (place != INSIDE).then_some((place as usize / 64, 1u64 << (place % 64)))
        };
        for (block, range) in graph.ranges.iter().enumerate() {
            let row = block * words..(block + 1) * words;
            let (wanted, killed) = (&mut wanted[row.clone()], &mut killed[row]);
            for draft in &drafts[range.clone()] {
                for (word, bit) in draft.uses.iter().filter_map(|&used| bit_of(used)) {
                    if killed[word] & bit == 0 {
                        wanted[word] |= bit;
                    }
                }
                for (word, bit) in draft.defs.iter().filter_map(|&def| bit_of(def)) {
                    if !draft.partial {
                        killed[word] |= bit;
                    } else if killed[word] & bit == 0 {
                        // The other lanes keep what was there.
                        wanted[word] |= bit;
                    }
                }
            }
        }
        let mut live = Liveness {
            across,
            words,
            into: wanted,
            out: vec![0; blocks * words],
        };
        live.spread(&killed, graph)?;
        Ok(live)
    }

    /// Has every block want what those after it want and it does not write.
    fn spread(&mut self, killed: &[u64], graph: &Graph) -> Result<(), String> {
        let (words, blocks) = (self.words, graph.ranges.len());
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        for (block, next) in graph.successors.iter().enumerate() {
            for &there in next {
                before[there].push(block);
            }
        }
        let mut steps = 0;
        // The last block is looked at first.
        let mut open: Vec<usize> = (0..blocks).collect();
        let mut is_open = vec![true; blocks];
        while let Some(block) = open.pop() {
            is_open[block] = false;
            steps += words * (1 + graph.successors[block].len());
            if steps > limits::STEPS {
                return Err("the function's branches are too entangled to follow which \
                            registers it needs when: make several functions of it"
                    .to_owned());
            }
            let mut changed = false;
            for word in 0..words {
                let place = block * words + word;
                let out = graph.successors[block]
                    .iter()
                    .fold(0, |bits, &next| bits | self.into[next * words + word]);
                let into = self.into[place] | (out & !killed[place]);
                changed |= into != self.into[place];
                self.into[place] = into;
                self.out[place] = out;
            }
            for &other in before[block].iter().filter(|_| changed) {
                if !std::mem::replace(&mut is_open[other], true) {
                    open.push(other);
                }
            }
        }
        Ok(())
    }

    fn at_start(&self, block: usize) -> impl Iterator<Item = Register> {
        self.set(&self.into[block * self.words..(block + 1) * self.words])
    }

    fn at_end(&self, block: usize) -> impl Iterator<Item = Register> {
        self.set(&self.out[block * self.words..(block + 1) * self.words])
    }

    fn set(&self, bits: &[u64]) -> impl Iterator<Item = Register> {
        bits.iter().enumerate().flat_map(move |(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                // Takes out the lowest; nothing where there is none.
                left &= left.checked_sub(1)?;
                Some(self.across[word * 64 + bit])
            })
        })
    }
}

/// The registers that some block reads before it writes them, and for every register its place
/// among these.
fn across(registers: usize, drafts: &[Draft], graph: &Graph) -> (Vec<Register>, Vec<u32>) {
    let mut across = Vec::new();
    let mut places = vec![INSIDE; registers];
    // The last block that wrote it, from 1.
    let mut written = vec![0; registers];
    for (block, range) in (1..).zip(&graph.ranges) {
        for draft in &drafts[range.clone()] {
            let kept = draft.defs.iter().filter(|_| draft.partial);
            for &Register(r) in draft.uses.iter().chain(kept) {
                let place = &mut places[r as usize];
                if written[r as usize] != block && *place == INSIDE {
                    *place = across.len() as u32;
                    across.push(Register(r));
                }
            }
            for &Register(r) in draft.defs.iter().filter(|_| !draft.partial) {
                written[r as usize] = block;
            }
        }
    }
    (across, places)
}
