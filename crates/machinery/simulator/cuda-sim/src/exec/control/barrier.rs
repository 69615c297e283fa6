//! Block-wide barriers: `bar.sync`, `bar.arrive`, `bar.red`. Source: PTX ISA section 9.7.13.1.

use crate::exec::fault::FaultKind;
use crate::exec::sm::block::{Arrival, BARRIERS, Reduction, ReductionOp};
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::{SplitState, Turn};
use crate::lanes::{FULL, LANES};

/// The variants of the barrier instruction, stored in `arg0`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    Sync,
    Arrive,
    Popc,
    And,
    Or,
}

impl Sm {
    /// Returns true if all live threads of the block arrive at once and need not stop, because the barrier
    /// would open immediately and the same warps would run next. Profiled and checked blocks must process
    /// every barrier.
    pub fn passes_barrier(&self, inst: &Inst, barrier: u32, expected: u32) -> bool {
        inst.arg0 == BarrierKind::Sync as u32
            && (barrier as usize) < BARRIERS
            && expected == 0
            && self.profiler.is_none()
            && self.checker.is_none()
            && self.block.has_no_waiters()
            && self.clock < self.block_deadline
    }
}

/// Runs `bar.sync`, `bar.arrive` or `bar.red`. Row 0 is the barrier, row 1 the thread count (0 for the whole
/// block), operand 2 the destination, operand 3 the source predicate; `arg0` is the [`BarrierKind`], `arg1`
/// is 1 if the predicate is negated.
///
/// # Safety
/// The requirements of [`super::enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    const KINDS: [BarrierKind; 5] = [
        BarrierKind::Sync,
        BarrierKind::Arrive,
        BarrierKind::Popc,
        BarrierKind::And,
        BarrierKind::Or,
    ];
    let kind = KINDS[inst.arg0 as usize];
    let lane = sm.mask.trailing_zeros() as usize;
    // SAFETY: operands 0 and 1 are 32-bit rows, operand 3 a predicate.
    let (barrier, expected, predicate) = unsafe {
        let negate = if inst.arg1 == 1 { FULL } else { 0 };
        (
            sm.row::<u32>(inst, 0)[lane],
            sm.row::<u32>(inst, 1)[lane],
            sm.predicate(inst, 3) ^ negate,
        )
    };
    if barrier >= 16 || expected % LANES as u32 != 0 {
        return sm.fail(
            inst,
            lane,
            FaultKind::InvalidBarrier {
                barrier,
                count: expected,
            },
        );
    }
    let operation = match kind {
        BarrierKind::Popc => Some(ReductionOp::Popc),
        BarrierKind::And => Some(ReductionOp::And),
        BarrierKind::Or => Some(ReductionOp::Or),
        BarrierKind::Sync | BarrierKind::Arrive => None,
    };
    let reduction = operation.map(|operation| {
        (
            Reduction {
                operation,
                destination: inst.operands[2],
            },
            predicate,
        )
    });
    let waits = kind != BarrierKind::Arrive;
    let mask = sm.mask;
    if mask.count_ones() == sm.block.alive && sm.passes_barrier(inst, barrier, expected) {
        sm.counts.barriers += 1;
        sm.start_slice(Turn::NEW);
        return inst.next();
    }
    let after = sm.address_of(inst) + 1;
    if waits {
        sm.suspend(after, SplitState::Barrier(barrier));
    }
    let arrival = Arrival {
        barrier: barrier as usize,
        expected,
        waits,
        reduction,
    };
    sm.block.arrive(mask, arrival);
    sm.counts.barriers += 1;
    if waits { sm.switch() } else { inst.next() }
}
