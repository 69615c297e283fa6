//! What the threads of a block do to device memory, as far as it is theirs alone: the same is kept of
//! each word as of shared memory, for the lines that the block uses.

use super::choice::Checks;
use super::lines::{LINE, LineNumbers};
use super::order::Order;
use super::runs::LaneRun;
use super::shared::{Now, SharedShadow};

/// What is known of the device memory that a block uses.
pub struct DeviceShadow {
    numbers: LineNumbers,
    /// What is known of the lines, one behind the other by their numbers.
    pub lines: SharedShadow,
    /// For each line the block's floor (see [`Order`]) when it was read last.
    read: Vec<u32>,
}

impl DeviceShadow {
    /// For at most so many lines, looked at by so many bytes at a time as `granule` says.
    pub fn new(most_lines: u32, granule: u32, checks: Checks) -> DeviceShadow {
        let checks = Checks {
            init: false,
            ..checks
        };
        DeviceShadow {
            numbers: LineNumbers::new(most_lines),
            lines: SharedShadow::new(0, granule, checks),
            read: Vec::new(),
        }
    }

    /// A block begins.
    pub fn begin(&mut self) {
        self.forget();
        self.lines.begin(false);
    }

    /// Forgets all lines.
    fn forget(&mut self) {
        self.numbers.clear();
        self.lines.forget_reads();
    }

    /// Takes note of the reads that are put down.
    pub fn settle(&mut self, order: &Order) {
        self.lines.settle(order);
    }

    /// The part of a run from `lane` on that is in one line, at its place among the lines that are
    /// known. It is ready to be looked at and to be noted as used.
    #[inline(always)]
    pub fn part(
        &mut self,
        order: &Order,
        now: Now,
        (run, lane): (&LaneRun, usize),
        bytes: u64,
    ) -> LaneRun {
        let skipped = (lane - run.first) as u64;
        let address = run.start + if run.apart { skipped * bytes } else { 0 };
        let inside = address % LINE;
        let line = address - inside;
        let (number, new) = self.numbers.number(line).unwrap_or_else(|| {
            // There are too many. What was before is forgotten, and nothing is said of it.
            self.forget();
            self.numbers.number(line).unwrap_or_default()
        });
        if new {
            if number == self.read.len() {
                self.read.push(0);
                self.lines.grow(LINE);
            }
            self.read[number] = 0;
            self.lines.clear(number as u64 * LINE, LINE);
        }
        if now.write && self.read[number] == order.floor() {
            self.lines.settle(order);
        } else if !now.write {
            self.read[number] = order.floor();
        }
        let left = run.first + run.lanes - lane;
        let fit = ((LINE - inside) / bytes) as usize;
        let lanes = if run.apart { left.min(fit) } else { left };
        let start = number as u64 * LINE + inside;
        LaneRun {
            start,
            first: lane,
            lanes,
            apart: run.apart,
        }
    }
}
