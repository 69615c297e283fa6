//! Control flow of a gang: basic-block entries, branches, barriers and thread exit.

use crate::exec::sm::{Codes, Inst, Next, Sm};
use crate::exec::warp::NO_INDEX;
use crate::exec::warp::gang_state::{MAX_WARPS, StopReason};
use crate::lanes::FULL;

/// Enters a basic block, as [`crate::exec::control::enter`] does for one warp. Every basic block starts with
/// this instruction.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`], with a gang running. All handlers in this file share them.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        let here = sm.address_of(inst);
        sm.gang.stopped = StopReason::Yielded;
        return sm.disband(NO_INDEX, |_| here);
    }
    let warps = sm.gang.count as u64;
    sm.clock += u64::from(inst.arg1) * warps;
    let visit = &mut sm.counts.visits[inst.arg0 as usize];
    visit.warps += warps;
    visit.threads += sm.gang.threads;
    inst.next()
}

/// Runs `exit`, and `ret` in a kernel, for all threads of the gang.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    if sm.gang.started {
        for member in 0..sm.gang.count {
            end_lanes(sm, member, sm.gang.masks[member]);
        }
    } else {
        sm.block.alive -= sm.gang.threads as u32;
        for &warp in sm.gang.warp_indices() {
            sm.block.warps[warp].alive = 0;
        }
    }
    sm.gang.count = 0;
    std::ptr::null()
}

/// Ends `lanes` of one warp of the gang.
fn end_lanes(sm: &mut Sm, member: usize, lanes: u32) {
    let index = sm.gang.warps[member];
    sm.block.running = index;
    sm.block.exit(lanes);
    let warp = &mut sm.block.warps[index];
    if warp.alive == 0 {
        let id = std::mem::replace(&mut warp.current, NO_INDEX);
        if let Some(window) = warp.remove(id) {
            sm.windows.recycle(window);
        }
    }
}

/// The path of a branch that only ends the thread, if there is one. A gang's branch has it as its immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitPath {
    Neither,
    Taken,
    NotTaken,
}

/// Runs a branch taken where the predicate is true, as [`crate::exec::control::branch_if`] does for one warp.
/// The immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 of a branch is a predicate.
    unsafe { branch_on(sm, inst, 0) }
}

/// Runs a branch taken where the predicate is false, as [`crate::exec::control::branch_unless`] does for one
/// warp. The immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 of a branch is a predicate.
    unsafe { branch_on(sm, inst, FULL) }
}

/// Runs a branch whose predicate is operand 0 with the bits of `flip` inverted.
///
/// # Safety
/// The requirements of [`enter`]; operand 0 is a predicate.
#[inline(always)]
unsafe fn branch_on(sm: &mut Sm, inst: &Inst, flip: u32) -> Next {
    let at = inst.operands[0] as usize;
    // SAFETY: frames of one function share a layout, so the predicate lies in each of them.
    let predicate = |frame: *mut u8| unsafe { *frame.add(at).cast::<u32>() } ^ flip;
    if inst.uniform & 1 == 1 {
        // A uniform predicate has the same value in all lanes, so one bit decides.
        return match predicate(sm.gang.uniform_frame) & 1 {
            0 => inst.next(),
            _ => sm.at(inst.arg0),
        };
    }
    let mut taken = [0; MAX_WARPS];
    let (mut any, mut missing) = (0, 0);
    for member in 0..sm.gang.count {
        let mask = sm.gang.masks[member];
        taken[member] = predicate(sm.gang.frames[member][0]) & mask;
        any |= taken[member];
        missing |= mask & !taken[member];
    }
    if any == 0 {
        inst.next()
    } else if missing == 0 {
        sm.at(inst.arg0)
    } else {
        diverge_or_exit(sm, inst, taken)
    }
}

/// Handles a branch on which the gang's lanes disagree: those in `taken` go to `arg0`, the others to the next
/// instruction. Lanes on an exit path end at once; otherwise the gang diverges.
fn diverge_or_exit(sm: &mut Sm, inst: &Inst, mut taken: [u32; MAX_WARPS]) -> Next {
    let here = sm.address_of(inst);
    // When only some lanes of a warp exit, the warp is split. The profiler counts the splits of a warp in the
    // order in which the warp runs alone, so the gang disbands if it is profiled.
    let splits_a_warp = taken
        .iter()
        .zip(sm.gang.masks)
        .any(|(&taken, mask)| taken != 0 && taken != mask);
    let (end, next) = if splits_a_warp && sm.profiler.is_some() {
        sm.gang.stopped = StopReason::Diverged;
        return sm.disband(inst.arg1, |_| here);
    } else if inst.imm == ExitPath::Taken as u64 {
        (inst.arg0, here + 1)
    } else if inst.imm == ExitPath::NotTaken as u64 {
        for (taken, mask) in taken.iter_mut().zip(sm.gang.masks) {
            *taken ^= mask;
        }
        (here + 1, inst.arg0)
    } else {
        sm.gang.stopped = StopReason::Diverged;
        let masks = sm.gang.masks;
        let profiled = sm.profiler.is_some();
        return sm.disband(inst.arg1, |member| match taken[member] {
            // The branch is counted when the warp runs it alone.
            _ if profiled => here,
            0 => here + 1,
            lanes if lanes == masks[member] => inst.arg0,
            _ => here,
        });
    };
    exit_some(sm, end, taken);
    sm.at(next)
}

/// Ends the lanes in `leaving` at the block at address `end`, which does nothing but exit. At least one lane of
/// the gang stays.
fn exit_some(sm: &mut Sm, end: u32, leaving: [u32; MAX_WARPS]) {
    sm.materialize_warps();
    // SAFETY: `end` is a branch target, which the lowering checked to lie in the code.
    let block = unsafe { &*sm.at(end) };
    let mut staying = 0;
    let remaining = sm.gang.remaining(sm.deadline, sm.clock);
    for member in 0..sm.gang.count {
        let (index, mask, leaves) = (
            sm.gang.warps[member],
            sm.gang.masks[member],
            leaving[member],
        );
        if leaves != 0 {
            sm.clock += u64::from(block.arg1);
            let visit = &mut sm.counts.visits[block.arg0 as usize];
            visit.warps += 1;
            visit.threads += u64::from(leaves.count_ones());
            sm.counts.divergent_branches += u64::from(leaves != mask);
            end_lanes(sm, member, leaves);
        }
        if leaves != mask {
            let warp = &mut sm.block.warps[index];
            warp.splits[warp.current as usize].mask = mask & !leaves;
            sm.gang.frames[staying] = sm.gang.frames[member];
            sm.gang.warps[staying] = index;
            sm.gang.masks[staying] = mask & !leaves;
            staying += 1;
        }
    }
    sm.gang.count = staying;
    sm.deadline = sm
        .clock
        .wrapping_add(remaining.wrapping_mul(staying as u64));
    sm.gang.seal(sm.gang.uniform_frame);
    sm.activate_all_lanes();
}

/// Runs an instruction at which the gang always diverges, for example an indirect branch.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn diverge(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.gang.stopped = StopReason::Diverged;
    sm.disband(inst.arg1, |_| here)
}

/// Runs a barrier, as [`crate::exec::control::barrier`] does for one warp. If the gang holds all live threads
/// of its block, the barrier opens at once and the gang continues.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    // A uniform barrier number and thread count are the same for all warps of the gang.
    let is_uniform = inst.uniform & 0b11 == 0b11;
    // SAFETY: operands 0 and 1 are 32-bit rows, and the uniform frame has the layout of the warps' frames.
    let [barrier, expected] = [0, 1].map(|n| unsafe {
        *sm.gang
            .uniform_frame
            .add(inst.operands[n] as usize)
            .cast::<u32>()
    });
    let all = sm.gang.threads == u64::from(sm.block.alive);
    if !(is_uniform && all && sm.passes_barrier(inst, barrier, expected)) {
        // SAFETY: `inst` is the instruction this handler was called with.
        return unsafe { warp_by_warp(sm, inst) };
    }
    sm.counts.barriers += sm.gang.count as u64;
    sm.deadline = sm.clock + sm.slice.length * sm.gang.group_warps;
    inst.next()
}

/// Runs an instruction that has no gang handler, one warp after the other.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn warp_by_warp(sm: &mut Sm, inst: &Inst) -> Next {
    sm.materialize_warps();
    let here = sm.address_of(inst);
    let Codes {
        gang: gang_code,
        warp: code,
        ..
    } = sm.codes;
    sm.code = code;
    let warp_inst = sm.at(here);
    let mut next = std::ptr::null();
    for member in 0..sm.gang.count {
        sm.select_warp(member);
        // SAFETY: all copies of the code hold the same instructions, so `warp_inst` has the operands of `inst`.
        let after = unsafe { ((*warp_inst).run)(sm, &*warp_inst) };
        if sm.fault.is_some() {
            sm.code = gang_code;
            return sm.fail_from(here, Sm::index(code, next), member);
        }
        next = after;
    }
    sm.code = gang_code;
    if next.is_null() {
        return next;
    }
    sm.at(Sm::index(code, next))
}
