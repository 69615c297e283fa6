//! Control flow: basic-block entries, branches, predication of single instructions, and thread exit.
//!
//! Source: PTX ISA sections 9.7.12 (control flow) and 9.7.13 (barriers).

mod barrier;
mod call;

pub use barrier::{BarrierKind, barrier};
pub use call::{call, call_pointer, take_results};

use super::fault::FaultKind;
use super::sm::{Inst, Next, Sm};
use super::warp::{NO_INDEX, SplitState};
use crate::lanes::{FULL, active};

/// Number of turns after which lanes that wait at a reconvergence point are released even though the lanes they
/// wait for diverge and reconverge, as in a long loop that does not depend on the waiting lanes.
const PATIENT_TURNS: u32 = 16;

/// Enters a basic block: counts the visit, and yields if the warp's turn is over. The first instruction of
/// every block. `arg0` is the block's number, `arg1` its length in instructions.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        return yield_turn(sm, inst);
    }
    sm.clock += u64::from(inst.arg1);
    let visit = &mut sm.counts.visits[inst.arg0 as usize];
    visit.warps += 1;
    visit.threads += u64::from(sm.mask.count_ones());
    inst.next()
}

/// Enters a block that is a reconvergence point, where splits may join their parent.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn enter_reconvergence(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.reconverge == sm.address_of(inst) {
        return sm.arrive();
    }
    // SAFETY: `inst` is the instruction this handler was called with.
    unsafe { enter(sm, inst) }
}

#[cold]
fn yield_turn(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.suspend(here, SplitState::Ready);
    let ran = sm.current_turn();
    let warp = sm.block.warp_mut();
    if ran.remaining > 0 {
        // Only a slice of the turn is over: the split keeps its place.
        warp.turn = Some(ran);
        warp.ready.push_front(warp.current);
        warp.current = NO_INDEX;
        return std::ptr::null();
    }
    let (read, single_split) = (ran.read, ran.single_split);
    warp.turns += 1;
    if read && (single_split || warp.turns.is_multiple_of(PATIENT_TURNS)) {
        // The running lanes may be polling a location that the lanes waiting for them have yet to write.
        warp.release_arrived(warp.current);
    }
    warp.ready.push_back(warp.current);
    warp.current = NO_INDEX;
    std::ptr::null()
}

/// Jumps to `arg0`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn jump(sm: &mut Sm, inst: &Inst) -> Next {
    sm.at(inst.arg0)
}

/// Branches to `arg0` where predicate 0 is true. Diverging lanes reconverge at `arg1`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate.
    let taken = unsafe { sm.predicate(inst, 0) } & sm.mask;
    branch(sm, inst, taken)
}

/// Branches to `arg0` where predicate 0 is false. Diverging lanes reconverge at `arg1`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate.
    let taken = !unsafe { sm.predicate(inst, 0) } & sm.mask;
    branch(sm, inst, taken)
}

#[inline(always)]
fn branch(sm: &mut Sm, inst: &Inst, taken: u32) -> Next {
    if taken == 0 {
        inst.next()
    } else if taken == sm.mask {
        sm.at(inst.arg0)
    } else {
        let other = sm.address_of(inst) + 1;
        sm.diverge(taken, inst.arg0, other, inst.arg1)
    }
}

/// Adds `lane` to the lanes with the same target.
fn join<T: PartialEq>(paths: &mut Vec<(u32, T)>, lane: usize, to: T) {
    match paths.iter_mut().find(|(_, target)| *target == to) {
        Some((lanes, _)) => *lanes |= 1 << lane,
        None => paths.push((1 << lane, to)),
    }
}

/// Runs `brx.idx`: each lane branches to the entry of branch table `imm` selected by its index, row 0.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_table(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let index = unsafe { sm.row::<u32>(inst, 0) };
    let program = sm.grid.program.clone();
    let table = &program.tables[inst.imm as usize];
    let mut paths: Vec<(u32, u32)> = Vec::new();
    for lane in active(sm.mask) {
        let Some(&target) = table.get(index[lane] as usize) else {
            return sm.fail(
                inst,
                lane,
                FaultKind::InvalidCall {
                    address: index[lane].into(),
                },
            );
        };
        join(&mut paths, lane, target);
    }
    if let [(_, target)] = paths[..] {
        return sm.at(target);
    }
    sm.counts.divergent_branches += 1;
    sm.part(&paths, inst.arg1)
}

/// Predicates the next instruction: runs it only in lanes whose predicate 0 is true, or false if `arg0` is 1.
///
/// # Safety
/// The requirements of [`enter`]; the next instruction must fall through.
pub unsafe fn guard(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate, and a guarded instruction is never the last of the code.
    unsafe {
        let holds = sm.predicate(inst, 0) ^ if inst.arg0 == 1 { FULL } else { 0 };
        let guarded = &*inst.next();
        let mask = sm.mask;
        if holds & mask == 0 {
            return guarded.next();
        }
        sm.set_active_lanes(holds & mask);
        let next = (guarded.run)(sm, guarded);
        sm.set_active_lanes(mask);
        next
    }
}

/// Runs `exit`, and `ret` in a kernel.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    sm.exit_lanes()
}

/// Runs `trap`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn trap(sm: &mut Sm, inst: &Inst) -> Next {
    sm.fail(inst, sm.mask.trailing_zeros() as usize, FaultKind::Trap)
}

/// Runs `brkpt`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn breakpoint(sm: &mut Sm, inst: &Inst) -> Next {
    sm.fail(
        inst,
        sm.mask.trailing_zeros() as usize,
        FaultKind::Breakpoint,
    )
}

/// Runs `nanosleep`: yields to other warps. Lanes of its own warp that wait for these lanes keep waiting.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn sleep(sm: &mut Sm, inst: &Inst) -> Next {
    sm.yield_after_others();
    inst.next()
}

/// Does nothing, for instructions such as `prefetch`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn no_op(_: &mut Sm, inst: &Inst) -> Next {
    inst.next()
}
