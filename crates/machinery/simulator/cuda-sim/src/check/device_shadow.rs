//! Shadow state for races between the threads of one block on device memory. It is the same per-word state as
//! for shared memory, for those lines of device memory that the block accesses.

use super::happens_before::HappensBefore;
use super::lane_runs::LaneRun;
use super::line_table::{LINE, LineTable};
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
