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
    /// The last accesses of each line.
    last: Vec<LastAccesses>,
}

/// The block's floors (see [`HappensBefore`]) when a line was last read and last written; 0 for never.
#[derive(Clone, Copy, Default)]
struct LastAccesses {
    read: u32,
    written: u32,
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
            last: Vec::new(),
        }
    }

    /// Resets the state for a new block. The earlier stamps of lines that it uses again stay, as those of
    /// shared memory do.
    pub fn begin(&mut self, restarts: bool) {
        self.line_table.clear();
        self.lines.begin(restarts);
    }

    /// Applies the logged reads to the shadow state.
    pub fn flush_reads(&mut self, order: &HappensBefore) {
        self.lines.flush_reads(order);
    }

    /// Returns the part of a run from `lane` on that lies in one line, with its address translated into the
    /// shadow memory, and true if it may conflict with an earlier access of the line. The line is allocated if
    /// necessary, and logged reads are applied if the access may conflict with them.
    #[inline(always)]
    pub fn part(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        (run, lane): (&LaneRun, usize),
        bytes: u64,
    ) -> (LaneRun, bool) {
        let skipped = (lane - run.first) as u64;
        let address = run.start + if run.contiguous { skipped * bytes } else { 0 };
        let inside = address % LINE;
        let line = address - inside;
        let (number, new) = self.line_table.get_or_insert(line).unwrap_or_else(|| {
            // The table is full: drop all state. Races with earlier accesses go unreported.
            self.line_table.clear();
            self.lines.forget();
            self.line_table.get_or_insert(line).unwrap_or_default()
        });
        if new {
            if number == self.last.len() {
                self.last.push(LastAccesses::default());
                self.lines.grow(LINE);
            }
            self.last[number] = LastAccesses::default();
        }
        let floor = order.floor();
        let last = &mut self.last[number];
        let (is_read, is_written) = (last.read == floor, last.written == floor);
        if !access.write {
            last.read = floor;
        } else {
            last.written = floor;
            if is_read {
                self.lines.flush_reads(order);
            }
        }
        let left = run.first + run.lanes - lane;
        let fit = ((LINE - inside) / bytes) as usize;
        let lanes = if run.contiguous { left.min(fit) } else { left };
        let start = number as u64 * LINE + inside;
        let part = LaneRun {
            start,
            first: lane,
            lanes,
            contiguous: run.contiguous,
        };
        (part, is_written || access.write && is_read)
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
    use rand_pcg::Pcg32;
    use rand_pcg::rand_core::{Rng, SeedableRng};

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

    /// Returns the conflicts of a run: the lane, the other access, and true if it wrote.
    fn conflicts(
        shadow: &SharedShadow,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
    ) -> Vec<(usize, u32, bool)> {
        let found = shadow.find_conflicts(order, access, run, 4, |_| true);
        let found = found.into_iter();
        found.map(|c| (c.lane, c.other.0, c.other_wrote)).collect()
    }

    #[test]
    fn lines_conflict_like_a_memory_that_is_new_for_each_block() {
        const LINES: u64 = 8;
        let checks = Checks {
            init: false,
            ..Checks::ALL
        };
        let mut random = Pcg32::seed_from_u64(1);
        let mut below = |bound: u32| random.next_u32() % bound;
        let mut found = [0; 2];
        // With room for all lines, all conflicts are found; with room for a few of them, none that do not exist.
        for (most_lines, found) in [LINES as u32, 3].into_iter().zip(&mut found) {
            let mut device = DeviceShadow::new(most_lines, 4, checks);
            let mut order = HappensBefore::default();
            for _block in 0..200 {
                device.begin(order.begin(3));
                let mut memory = SharedShadow::new((LINES * LINE) as u32, 4, checks);
                for _ in 0..40 {
                    if below(10) == 0 {
                        order.complete_block_barrier();
                        continue;
                    }
                    let lanes = 1 + below(4);
                    let run = LaneRun {
                        start: u64::from(below((LINES * LINE) as u32 / 4 - 3)) * 4,
                        first: below(33 - lanes) as usize,
                        lanes: lanes as usize,
                        contiguous: lanes > 1 && below(2) == 0,
                    };
                    let access = ShadowAccess {
                        warp: below(3) as usize,
                        site: below(9),
                        write: below(3) == 0,
                        ordered: below(5) == 0,
                        atomic: false,
                    };
                    if access.write {
                        memory.flush_reads(&order);
                    }
                    let expected = conflicts(&memory, &order, access, &run);
                    memory.record(&order, access, &run, 4);
                    let mut actual = Vec::new();
                    let mut lane = run.first;
                    while lane < run.first + run.lanes {
                        let (part, may_conflict) = device.part(&order, access, (&run, lane), 4);
                        lane += part.lanes;
                        if may_conflict {
                            actual.extend(conflicts(&device.lines, &order, access, &part));
                        }
                        device.lines.record(&order, access, &part, 4);
                    }
                    *found += actual.len();
                    if most_lines == LINES as u32 {
                        assert_eq!(actual, expected);
                    } else {
                        assert!(actual.iter().all(|conflict| expected.contains(conflict)));
                    }
                }
            }
        }
        assert!(found.iter().all(|&found| found > 100), "{found:?}");
    }
}
