//! Control flow of a gang: blocks, branches, barriers, the end of its threads.

use crate::exec::gang::{MAX_WARPS, StopReason};
use crate::exec::sm::{CodePair, Inst, Next, Sm};
use crate::exec::warp::NO_INDEX;
use crate::lanes::FULL;

/// The first instruction of every basic block, as [`crate::exec::control::enter`].
///
/// # Safety
/// As for [`crate::exec::sm::Handler`], where a gang is running; so for every handler here.
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

/// `exit`, and `ret` from a kernel.
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

/// Lanes of a warp of the gang end.
fn end_lanes(sm: &mut Sm, member: usize, lanes: u32) {
    let index = sm.gang.warps[member];
    sm.block.running = index;
    sm.block.exit(lanes);
    let warp = &mut sm.block.warps[index];
    if warp.alive == 0 {
        let id = std::mem::replace(&mut warp.current, NO_INDEX);
        if let Some(window) = warp.remove(id) {
            sm.windows.give_back(window);
        }
    }
}

/// Which way of a branch, if any, does nothing but end the thread: a branch's immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitPath {
    Neither,
    NextBlock,
    NotTaken,
}

/// As [`crate::exec::control::branch_if`]; the immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch_on(sm, inst, 0) }
}

/// As [`crate::exec::control::branch_unless`]; the immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch_on(sm, inst, FULL) }
}

/// # Safety
/// As for [`enter`]: operand 0 is a predicate. Its bits that `flip` has count the other way round.
#[inline(always)]
unsafe fn branch_on(sm: &mut Sm, inst: &Inst, flip: u32) -> Next {
    let at = inst.operands[0] as usize;
    // SAFETY: the predicate is in every frame.
    let predicate = |frame: *mut u8| unsafe { *frame.add(at).cast::<u32>() } ^ flip;
    if inst.uniform & 1 == 1 {
        // All lanes of what the warps have in common are alike.
        return match predicate(sm.gang.common) & 1 {
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

/// The lanes in `taken` want to go to `x`, the others to the next instruction.
fn diverge_or_exit(sm: &mut Sm, inst: &Inst, mut taken: [u32; MAX_WARPS]) -> Next {
    let here = sm.address_of(inst);
    // An observed warp, part of which ends, runs alone: it takes that part up in its own order.
    let in_part = taken
        .iter()
        .zip(sm.gang.masks)
        .any(|(&taken, mask)| taken != 0 && taken != mask);
    let (end, next) = if in_part && sm.profiler.is_some() {
        sm.gang.stopped = StopReason::Diverged;
        return sm.disband(inst.arg1, |_| here);
    } else if inst.imm == ExitPath::NextBlock as u64 {
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
            // It is counted where the warp is alone.
            _ if profiled => here,
            0 => here + 1,
            lanes if lanes == masks[member] => inst.arg0,
            _ => here,
        });
    };
    exit_some(sm, end, taken);
    sm.at(next)
}

/// Lanes end in the block at `end`, in which there is nothing else to do; some lane stays.
fn exit_some(sm: &mut Sm, end: u32, leaving: [u32; MAX_WARPS]) {
    sm.materialize_warps();
    // SAFETY: a branch's target is in the code.
    let block = unsafe { &*sm.at(end) };
    let mut staying = 0;
    let left = sm.gang.left(sm.deadline, sm.clock);
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
    sm.deadline = sm.clock.wrapping_add(left.wrapping_mul(staying as u64));
    sm.gang.seal(sm.gang.common);
    sm.activate_all_lanes();
}

/// An instruction at which the gang always parts: lanes go wherever they like.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn diverge(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.gang.stopped = StopReason::Diverged;
    sm.disband(inst.arg1, |_| here)
}

/// A barrier, as [`crate::exec::control::barrier`]. Where the gang is all that lives of its block, everybody
/// is there and goes on.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    // The barrier and the count are the same for all warps.
    let alike = inst.uniform & 0b11 == 0b11;
    // SAFETY: operands 0 and 1 are 32-bit rows, which the gang's own frame has as well.
    let [barrier, expected] =
        [0, 1].map(|n| unsafe { *sm.gang.common.add(inst.operands[n] as usize).cast::<u32>() });
    let all = sm.gang.threads == u64::from(sm.block.alive);
    if !(alike && all && sm.passes_barrier(inst, barrier, expected)) {
        // SAFETY: the same instruction.
        return unsafe { warp_by_warp(sm, inst) };
    }
    sm.counts.barriers += sm.gang.count as u64;
    sm.deadline = sm.clock + sm.slice * sm.gang.group_warps;
    inst.next()
}

/// An instruction that has no form for gangs: runs it warp by warp.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn warp_by_warp(sm: &mut Sm, inst: &Inst) -> Next {
    sm.materialize_warps();
    let here = sm.address_of(inst);
    let CodePair {
        gang: gang_code,
        warp: code,
    } = sm.codes;
    sm.code = code;
    let warp_inst = sm.at(here);
    let mut next = std::ptr::null();
    for member in 0..sm.gang.count {
        sm.select_warp(member);
        // SAFETY: the same instruction, as it is for one warp.
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
