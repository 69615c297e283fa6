//! The running warp's turn: its start, its progress, and its early end if the warp only waits for others.

use super::{Inst, Sm};
use crate::exec::schedule::spin::Probe;
use crate::exec::warp::Turn;

impl Sm {
    /// Starts a slice of `turn` for the running warp.
    pub fn start_slice(&mut self, turn: Turn) {
        self.turn = turn;
        self.slice_start = self.clock;
        self.deadline = self.clock + turn.remaining.min(self.slice);
        self.reads_before = self.counts.reads;
        self.switches_before = self.switches;
    }

    /// Returns the running warp's turn up to now.
    pub fn current_turn(&self) -> Turn {
        let ran = self.clock - self.slice_start;
        Turn {
            remaining: self.turn.remaining.saturating_sub(ran),
            read: self.turn.read || self.counts.reads > self.reads_before,
            single_split: self.turn.single_split && self.switches == self.switches_before,
        }
    }

    /// Records that the running warp changed nothing and found `value` at `address`, its first lane's. After
    /// `limit` such probes in a row, the warp gives up its turn.
    #[inline]
    pub fn record_probe(&mut self, inst: &Inst, address: u64, value: u64, limit: u32) {
        let probe = Probe {
            instruction: std::ptr::from_ref(inst).addr(),
            lanes: self.mask,
            address,
            value,
        };
        let repeats = self.block.warp_mut().spin_detector.record(probe);
        self.spinning = repeats > 1;
        if repeats.is_multiple_of(limit) {
            self.end_turn_waiting();
        }
    }

    /// Lets the other warps run before the running warp continues its turn, from the next basic block on.
    pub fn yield_after_others(&mut self) {
        self.only_waits = true;
        self.deadline = self.clock;
    }

    /// Ends the turn of the running warp, which only waits, at the next basic block.
    pub fn end_turn_waiting(&mut self) {
        self.only_waits = true;
        self.end_turn();
    }

    /// Ends the running warp's turn at the next basic block.
    pub fn end_turn(&mut self) {
        self.turn.remaining = 0;
        self.deadline = self.clock;
    }
}
