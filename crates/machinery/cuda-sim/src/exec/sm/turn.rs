//! The running warp's turn: where it begins, how far it is, and that it ends at once where the warp only
//! waits for others.

use super::{Inst, Sm};
use crate::exec::spin::Probe;
use crate::exec::warp::Turn;

impl Sm {
    /// The running warp begins a slice of `turn`.
    pub fn begin_turn(&mut self, turn: Turn) {
        self.turn = turn;
        self.slice_start = self.clock;
        self.deadline = self.clock + turn.left.min(self.slice);
        self.reads_before = self.counts.reads;
        self.switches_before = self.switches;
    }

    /// The running warp's turn as it stands now.
    pub fn turn_so_far(&self) -> Turn {
        let ran = self.clock - self.slice_start;
        Turn {
            left: self.turn.left.saturating_sub(ran),
            read: self.turn.read || self.counts.reads > self.reads_before,
            single_split: self.turn.single_split && self.switches == self.switches_before,
        }
    }

    /// The running warp has changed nothing and found `value` at `address`, the first of its lanes. Where
    /// it finds the same `patience` times running, it gives way.
    #[inline]
    pub fn observe_probe(&mut self, inst: &Inst, address: u64, value: u64, patience: u32) {
        let spinning = Probe {
            by: std::ptr::from_ref(inst).addr(),
            lanes: self.mask,
            address,
            value,
        };
        let times = self.block.warp_mut().spin_detector.repeats(spinning);
        self.spinning = times > 1;
        if times.is_multiple_of(patience) {
            self.give_way_soon();
        }
    }

    /// The running warp goes on with its turn after the others, from the next basic block on.
    pub fn rests(&mut self) {
        self.only_waits = true;
        self.deadline = self.clock;
    }

    /// The running warp, which waits, has no more of its turn from the next basic block on.
    pub fn give_way_soon(&mut self) {
        self.only_waits = true;
        self.ends_turn_soon();
    }

    /// The running warp's turn is over at the next basic block.
    pub fn ends_turn_soon(&mut self) {
        self.turn.left = 0;
        self.deadline = self.clock;
    }
}
