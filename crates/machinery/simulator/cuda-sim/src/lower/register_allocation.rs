//! Register allocation: linear scan over live intervals assigns each virtual register to a row of the frame.
//! Registers with disjoint intervals share a row, because a small frame stays in the CPU's L1 cache.

use super::analysis::uniformity::RowOwner;
use super::cfg::Cfg;
use super::ir::IrInst;
use super::limits;
use super::liveness::{Interval, intervals};
use super::register::{RegisterClass, RegisterInfo};
use crate::exec::warp::function::{Literal, UniformRows};
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
