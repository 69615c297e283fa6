//! Shadow state for races between the threads of one block on device memory. It is the same per-word state as
//! for shared memory, for those lines of device memory that the block accesses.

use super::happens_before::HappensBefore;
use super::lane_runs::LaneRun;
use super::selection::Checks;
use super::shared::{ShadowAccess, SharedShadow};

/// Shadow state of the device memory that a block accesses.
pub struct DeviceShadow {
    line_table: LineTable,
    /// The shadow state of the lines, concatenated in the order of their indices in the table.
    pub lines: SharedShadow,
    /// For each line, the block's floor (see [`HappensBefore`]) when it was last read.
    read: Vec<u32>,
}

impl DeviceShadow {
    /// Creates shadow state for at most `most_lines` lines, with one element per `granule` bytes.
    pub fn new(most_lines: u32, granule: u32, checks: Checks) -> DeviceShadow {
        let checks = Checks {
            init: false,
            ..checks
        };
        DeviceShadow {
            line_table: LineTable::new(most_lines),
            lines: SharedShadow::new(0, granule, checks),
            read: Vec::new(),
        }
    }

    /// Resets the state for a new block.
    pub fn begin(&mut self) {
        self.forget();
        self.lines.begin(false);
    }

    /// Forgets all lines.
    fn forget(&mut self) {
        self.line_table.clear();
        self.lines.forget_reads();
    }

    /// Applies the logged reads to the shadow state.
    pub fn flush_reads(&mut self, order: &HappensBefore) {
        self.lines.flush_reads(order);
    }

    /// Returns the part of a run from `lane` on that lies in one line, with its address translated into the
    /// shadow memory. The line is allocated if necessary, and logged reads are applied if the access may
    /// conflict with them.
    #[inline(always)]
    pub fn part(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        (run, lane): (&LaneRun, usize),
        bytes: u64,
    ) -> LaneRun {
        let skipped = (lane - run.first) as u64;
        let address = run.start + if run.contiguous { skipped * bytes } else { 0 };
        let inside = address % LINE;
        let line = address - inside;
        let (number, new) = self.line_table.get_or_insert(line).unwrap_or_else(|| {
            // The table is full: drop all state. Races with earlier accesses go unreported.
            self.forget();
            self.line_table.get_or_insert(line).unwrap_or_default()
        });
        if new {
            if number == self.read.len() {
                self.read.push(0);
                self.lines.grow(LINE);
            }
            self.read[number] = 0;
            self.lines.clear(number as u64 * LINE, LINE);
        }
        if access.write && self.read[number] == order.floor() {
            self.lines.flush_reads(order);
        } else if !access.write {
            self.read[number] = order.floor();
        }
        let left = run.first + run.lanes - lane;
        let fit = ((LINE - inside) / bytes) as usize;
        let lanes = if run.contiguous { left.min(fit) } else { left };
        let start = number as u64 * LINE + inside;
        LaneRun {
            start,
            first: lane,
            lanes,
            contiguous: run.contiguous,
        }
    }
}

/// Bytes per line.
pub const LINE: u64 = 128;

/// A map from lines to dense indices, with a fixed capacity.
pub struct LineTable {
    /// An open-addressing hash table with linear probing, at most half full.
    slots: Vec<Slot>,
    count: u32,
    capacity: u32,
    /// The current generation. A slot is occupied if it has this generation.
    generation: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    line: u64,
    generation: u32,
    number: u32,
}

impl LineTable {
    /// Creates a table for at most `capacity` lines.
    pub fn new(capacity: u32) -> LineTable {
        LineTable {
            slots: vec![Slot::default(); 64],
            count: 0,
            capacity,
            generation: 1,
        }
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        self.count = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    /// Returns the index of the line at this address, and true if it is new. Returns `None` if the line is
    /// not in the table and the table is full.
    #[inline(always)]
    pub fn get_or_insert(&mut self, line: u64) -> Option<(usize, bool)> {
        let index = match self.find(line) {
            Ok(number) => return Some((number as usize, false)),
            Err(index) => index,
        };
        if self.count == self.capacity {
            return None;
        }
        let number = self.count;
        self.slots[index] = Slot {
            line,
            generation: self.generation,
            number,
        };
        self.count += 1;
        if self.count as usize * 2 > self.slots.len() {
            self.grow();
        }
        Some((number as usize, true))
    }

    /// Returns the line's index, or the slot to insert it into.
    #[inline(always)]
    fn find(&self, line: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let hash = (line / LINE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut index = hash as usize & mask;
        loop {
            let slot = &self.slots[index];
            if slot.generation != self.generation {
                return Err(index);
            }
            if slot.line == line {
                return Ok(slot.number);
            }
            index = (index + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Slot::default(); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        for slot in old {
            if slot.generation == self.generation
                && let Err(index) = self.find(slot.line)
            {
                self.slots[index] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_indices() {
        let mut lines = LineTable::new(1000);
        for round in 0..2 {
            for n in 0..1000u64 {
                let expected = Some((n as usize, round == 0));
                assert_eq!(lines.get_or_insert(n * n * LINE), expected, "{n}");
            }
            assert_eq!(lines.get_or_insert(LINE * 3), None, "there are no more");
        }
        lines.clear();
        assert_eq!(lines.get_or_insert(LINE * 9), Some((0, true)));
        assert_eq!(lines.get_or_insert(LINE * 9), Some((0, false)));
    }
}
