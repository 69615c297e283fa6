//! Warps that only wait for others: they give way at once.

use super::{Inst, Sm};
use crate::exec::question::Asked;

impl Sm {
    /// The running warp has changed nothing and found `value` at `address`, the first of its lanes. Where
    /// it finds the same `patience` times running, it gives way.
    #[inline]
    pub fn asks(&mut self, inst: &Inst, address: u64, value: u64, patience: u32) {
        self.asked = true;
        let asked = Asked {
            by: std::ptr::from_ref(inst).addr(),
            block: self.block.number,
            warp: self.block.running,
            lanes: self.mask,
            address,
            value,
        };
        if self.question.repeats(asked, patience) {
            self.give_way_soon();
        }
    }

    /// The running warp's turn is over at the next basic block.
    pub fn give_way_soon(&mut self) {
        self.waits = true;
        self.turn.left = 0;
        self.deadline = self.clock;
    }
}
