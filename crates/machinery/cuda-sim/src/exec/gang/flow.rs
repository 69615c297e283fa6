//! Control flow of a gang: blocks, branches, barriers, the end of its threads.

use crate::exec::gang::{MOST, Stopped};
use crate::exec::sm::{Codes, Inst, Next, Sm};
use crate::exec::warp::NOWHERE;
use crate::lanes::FULL;

/// The first instruction of every basic block, as [`crate::exec::control::enter`].
///
/// # Safety
/// As for [`crate::exec::sm::Handler`], where a gang is running; so for every handler here.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        let here = sm.address_of(inst);
        sm.gang.stopped = Stopped::GivingWay;
        return sm.go_alone(NOWHERE, |_| here);
    }
    let warps = sm.gang.count as u64;
    sm.clock += u64::from(inst.y) * warps;
    let visit = &mut sm.counts.visits[inst.x as usize];
    visit.warps += warps;
    visit.threads += sm.gang.threads;
    inst.next()
}

/// `exit`, and `ret` from a kernel.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    if sm.gang.begun {
        for turn in 0..sm.gang.count {
            end_lanes(sm, turn, sm.gang.masks[turn]);
        }
    } else {
        sm.block.alive -= sm.gang.threads as u32;
        for &place in sm.gang.places() {
            sm.block.warps[place].alive = 0;
        }
    }
    sm.gang.count = 0;
    std::ptr::null()
}

/// Lanes of a warp of the gang end.
fn end_lanes(sm: &mut Sm, turn: usize, lanes: u32) {
    let place = sm.gang.warps[turn];
    sm.block.running = place;
    sm.block.exit(lanes);
    let warp = &mut sm.block.warps[place];
    if warp.alive == 0 {
        let id = std::mem::replace(&mut warp.current, NOWHERE);
        if let Some(window) = warp.remove(id) {
            sm.windows.give_back(window);
        }
    }
}

/// Which way of a branch, if any, does nothing but end the thread: a branch's immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Neither,
    Taken,
    NotTaken,
}

/// As [`crate::exec::control::branch_if`]; the immediate is an [`Ends`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch(sm, inst, 0) }
}

/// As [`crate::exec::control::branch_unless`]; the immediate is an [`Ends`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch(sm, inst, FULL) }
}

/// # Safety
/// As for [`enter`]: operand 0 is a predicate. Its bits that `flip` has count the other way round.
#[inline(always)]
unsafe fn branch(sm: &mut Sm, inst: &Inst, flip: u32) -> Next {
    let at = inst.o[0] as usize;
    // SAFETY: the predicate is in every frame.
    let predicate = |frame: *mut u8| unsafe { *frame.add(at).cast::<u32>() } ^ flip;
    if inst.common & 1 == 1 {
        // All lanes of what the warps have in common are alike.
        return match predicate(sm.gang.common) & 1 {
            0 => inst.next(),
            _ => sm.at(inst.x),
        };
    }
    let mut taken = [0; MOST];
    let (mut any, mut missing) = (0, 0);
    for turn in 0..sm.gang.count {
        let mask = sm.gang.masks[turn];
        taken[turn] = predicate(sm.gang.frames[turn][0]) & mask;
        any |= taken[turn];
        missing |= mask & !taken[turn];
    }
    if any == 0 {
        inst.next()
    } else if missing == 0 {
        sm.at(inst.x)
    } else {
        disagree(sm, inst, taken)
    }
}

/// The lanes in `taken` want to go to `x`, the others to the next instruction.
fn disagree(sm: &mut Sm, inst: &Inst, mut taken: [u32; MOST]) -> Next {
    let here = sm.address_of(inst);
    // An observed warp, part of which ends, runs alone: it takes that part up in its own order.
    let in_part = taken
        .iter()
        .zip(sm.gang.masks)
        .any(|(&taken, mask)| taken != 0 && taken != mask);
    let (end, next) = if in_part && sm.observer.is_some() {
        sm.gang.stopped = Stopped::Parted;
        return sm.go_alone(inst.y, |_| here);
    } else if inst.imm == Ends::Taken as u64 {
        (inst.x, here + 1)
    } else if inst.imm == Ends::NotTaken as u64 {
        for (taken, mask) in taken.iter_mut().zip(sm.gang.masks) {
            *taken ^= mask;
        }
        (here + 1, inst.x)
    } else {
        sm.gang.stopped = Stopped::Parted;
        let masks = sm.gang.masks;
        let observed = sm.observer.is_some();
        return sm.go_alone(inst.y, |turn| match taken[turn] {
            // It is counted where the warp is alone.
            _ if observed => here,
            0 => here + 1,
            lanes if lanes == masks[turn] => inst.x,
            _ => here,
        });
    };
    leave(sm, end, taken);
    sm.at(next)
}

/// Lanes end in the block at `end`, in which there is nothing else to do; some lane stays.
fn leave(sm: &mut Sm, end: u32, leaving: [u32; MOST]) {
    sm.begin();
    // SAFETY: a branch's target is in the code.
    let block = unsafe { &*sm.at(end) };
    let mut stay = 0;
    let left = sm.gang.left(sm.deadline, sm.clock);
    for turn in 0..sm.gang.count {
        let (place, mask, leaves) = (sm.gang.warps[turn], sm.gang.masks[turn], leaving[turn]);
        if leaves != 0 {
            sm.clock += u64::from(block.y);
            let visit = &mut sm.counts.visits[block.x as usize];
            visit.warps += 1;
            visit.threads += u64::from(leaves.count_ones());
            sm.counts.divergent_branches += u64::from(leaves != mask);
            end_lanes(sm, turn, leaves);
        }
        if leaves != mask {
            let warp = &mut sm.block.warps[place];
            warp.splits[warp.current as usize].mask = mask & !leaves;
            sm.gang.frames[stay] = sm.gang.frames[turn];
            sm.gang.warps[stay] = place;
            sm.gang.masks[stay] = mask & !leaves;
            stay += 1;
        }
    }
    sm.gang.count = stay;
    sm.deadline = sm.clock.wrapping_add(left.wrapping_mul(stay as u64));
    sm.gang.close(sm.gang.common);
    sm.run_all_lanes();
}

/// An instruction at which the gang always parts: lanes go wherever they like.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn part(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.gang.stopped = Stopped::Parted;
    sm.go_alone(inst.y, |_| here)
}

/// A barrier, as [`crate::exec::control::barrier`]. Where the gang is all that lives of its block, everybody
/// is there and goes on.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    // The barrier and the count are the same for all warps.
    let alike = inst.common & 0b11 == 0b11;
    // SAFETY: operands 0 and 1 are 32-bit rows, which the gang's own frame has as well.
    let [barrier, expected] =
        [0, 1].map(|n| unsafe { *sm.gang.common.add(inst.o[n] as usize).cast::<u32>() });
    let all = sm.gang.threads == u64::from(sm.block.alive);
    if !(alike && all && sm.passes_barrier(inst, barrier, expected)) {
        // SAFETY: the same instruction.
        return unsafe { each(sm, inst) };
    }
    sm.counts.barriers += sm.gang.count as u64;
    sm.deadline = sm.clock + sm.slice * sm.gang.group_warps;
    inst.next()
}

/// An instruction that has no form for gangs: runs it warp by warp.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn each(sm: &mut Sm, inst: &Inst) -> Next {
    sm.begin();
    let here = sm.address_of(inst);
    let Codes {
        together,
        alone: code,
    } = sm.codes;
    sm.code = code;
    let alone = sm.at(here);
    let mut next = std::ptr::null();
    for turn in 0..sm.gang.count {
        sm.take_turn(turn);
        // SAFETY: the same instruction, as it is for one warp.
        let after = unsafe { ((*alone).run)(sm, &*alone) };
        if sm.fault.is_some() {
            sm.code = together;
            return sm.fail_from(here, Sm::index(code, next), turn);
        }
        next = after;
    }
    sm.code = together;
    if next.is_null() {
        return next;
    }
    sm.at(Sm::index(code, next))
}
