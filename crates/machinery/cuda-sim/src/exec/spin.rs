//! Warps that wait for others by asking again and again: they give way at once.
//!
//! A warp that runs into a lock which another one holds would ask for it until its turn is over, some ten
//! thousand times. An atomic that changes nothing, or an ordered load, which finds the same value in the
//! same place several times running is taken for such a question.

use super::sm::{Inst, Sm};

/// So often an atomic changes nothing before its warp gives way.
pub const ATOMIC_PATIENCE: u32 = 4;

/// So often an ordered load reads the same before its warp gives way. Loads may well be repeated for
/// another reason.
pub const LOAD_PATIENCE: u32 = 64;

/// Rounds of a block's warps, all of which only wait, after which another block goes on.
pub const BLOCK_PATIENCE: u32 = 16;

/// A question that was asked last, and how often it had the same answer.
#[derive(Default)]
pub struct Question {
    asked: Asked,
    answered: u32,
}

/// Who asked what.
#[derive(Default, PartialEq, Eq)]
struct Asked {
    /// The instruction.
    by: usize,
    block: u64,
    warp: usize,
    lanes: u32,
    /// What the first of the lanes found.
    address: u64,
    value: u64,
}

impl Sm {
    /// The running warp has changed nothing and found `value` at `address`, the first of its lanes. Where
    /// it finds the same `patience` times running, it gives way.
    #[inline]
    pub fn asks(&mut self, inst: &Inst, address: u64, value: u64, patience: u32) {
        let asked = Asked {
            by: std::ptr::from_ref(inst).addr(),
            block: self.block.number,
            warp: self.block.running,
            lanes: self.mask,
            address,
            value,
        };
        if self.question.asked != asked {
            self.question = Question { asked, answered: 1 };
            return;
        }
        self.question.answered += 1;
        if self.question.answered >= patience {
            self.question = Question::default();
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
