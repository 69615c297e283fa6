//! What the lanes of a warp tell each other: shuffles, votes, matches, reductions.
//!
//! Source: PTX ISA section 9.7.9.6 (`shfl.sync`), 9.7.13 (`vote`, `match`, `redux`, `activemask`,
//! `bar.warp.sync`).

use super::cpu::Cpu;
use super::lanewise::where_true;
use super::ops::extremum;
use super::sm::{Inst, Next, Sm};
use super::warp::{Split, SplitState};
use crate::lanes::{FULL, LANES, active};

/// Brings together the lanes that `members` names, then runs `body` with all that came.
///
/// A GPU since Volta lets lanes come to a `.sync` instruction one by one. So a split that comes
/// alone waits; the last one runs the instruction for all, and each goes on by itself. Those that come to
/// another one like it are waited for as long as there is anyone who can go on (see [`Sm::meet_apart`]).
#[inline(always)]
pub(super) fn together(sm: &mut Sm, inst: &Inst, members: u32, body: impl FnOnce(&mut Sm)) -> Next {
    let needed = members & sm.block.warp().alive;
    if needed & !sm.mask == 0 {
        body(sm);
        return inst.next();
    }
    let here = sm.address_of(inst);
    let warp = sm.block.warp();
    let frame = warp.splits[warp.current as usize].frame;
    let comes = |split: &Split| split.pc == here && split.frame == frame;
    wait_for(sm, inst, needed, SplitState::Sync(members), comes, body)
}

#[cold]
fn wait_for(
    sm: &mut Sm,
    inst: &Inst,
    needed: u32,
    state: SplitState,
    comes: impl Fn(&Split) -> bool,
    body: impl FnOnce(&mut Sm),
) -> Next {
    let here = sm.address_of(inst);
    let warp = sm.block.warp_mut();
    if std::mem::take(&mut warp.splits[warp.current as usize].sync_completed) {
        body(sm);
        return inst.next();
    }
    let warp = sm.block.warp();
    let others: Vec<u32> = (0..warp.splits.len() as u32)
        .filter(|&id| {
            let split = &warp.splits[id as usize];
            split.state == state && comes(split)
        })
        .collect();
    let come = others
        .iter()
        .fold(sm.mask, |mask, &id| mask | warp.splits[id as usize].mask);
    if needed & !come != 0 {
        sm.suspend(here, state);
        return sm.switch();
    }
    let own = sm.mask;
    sm.set_active_lanes(come);
    body(sm);
    sm.set_active_lanes(own);
    let warp = sm.block.warp_mut();
    for id in others {
        let split = &mut warp.splits[id as usize];
        split.state = SplitState::Ready;
        split.pc += 1;
        warp.ready.push_back(id);
    }
    inst.next()
}

/// The value that a row has in the first running lane.
#[inline(always)]
fn first(sm: &Sm, row: &[u32; LANES]) -> u32 {
    row[sm.mask.trailing_zeros() as usize & 31]
}

/// Brings together the lanes that operand `mask` names, then runs `body` with all that came. Lanes may name
/// different ones, as the tiles of a warp do: each such group is by itself.
///
/// # Safety
/// Operand `mask` is a 32-bit row.
#[inline(always)]
unsafe fn grouped(sm: &mut Sm, inst: &Inst, mask: usize, body: impl Fn(&mut Sm, u32)) -> Next {
    // SAFETY: the caller's promise.
    let row = unsafe { sm.row::<u32>(inst, mask) };
    let members = first(sm, row);
    // Of all lanes, running or not: that takes a few instructions.
    let differ = row
        .iter()
        .fold(0, |differ, &other| differ | (other ^ members));
    if differ == 0 {
        return together(sm, inst, members, |sm| body(sm, members));
    }
    // SAFETY: the caller's promise.
    unsafe { groups(sm, inst, mask, body) }
}

/// What [`grouped`] does where not all lanes name the same ones.
///
/// # Safety
/// As for [`grouped`].
#[cold]
unsafe fn groups(sm: &mut Sm, inst: &Inst, mask: usize, body: impl Fn(&mut Sm, u32)) -> Next {
    // SAFETY: the caller's promise.
    let row = *unsafe { sm.row::<u32>(inst, mask) };
    let (own, alive) = (sm.mask, sm.block.warp().alive);
    // Those that are all here go first; the others wait for the rest of theirs.
    let (mut rest, mut incomplete, mut awaited) = (own, 0, 0);
    while rest != 0 {
        let members = row[rest.trailing_zeros() as usize & 31];
        let group = same(&row, members, rest);
        rest &= !group;
        if members & alive & !own == 0 {
            sm.set_active_lanes(group);
            body(sm, members);
        } else {
            incomplete |= group;
            awaited |= members;
        }
    }
    sm.set_active_lanes(own);
    if incomplete == 0 {
        return inst.next();
    }
    together(sm, inst, awaited, |sm| {
        let come = sm.mask;
        let mut rest = come & awaited;
        while rest != 0 {
            let members = row[rest.trailing_zeros() as usize & 31];
            let group = same(&row, members, rest);
            rest &= !group;
            sm.set_active_lanes(group);
            body(sm, members);
        }
        sm.set_active_lanes(come);
    })
}

/// Those of `lanes` that name these members.
fn same(row: &[u32; LANES], members: u32, lanes: u32) -> u32 {
    active(lanes)
        .filter(|&lane| row[lane] == members)
        .fold(0, |group, lane| group | 1 << lane)
}

/// `bar.warp.sync`: operand 0 the member mask.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; so for every handler here.
pub unsafe fn warp_sync(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let members = first(sm, unsafe { sm.row(inst, 0) });
    let needed = members & sm.block.warp().alive;
    if needed & !sm.mask == 0 {
        return inst.next();
    }
    // Nothing is exchanged, so it need not be the same instruction for all.
    wait_for(
        sm,
        inst,
        needed,
        SplitState::WarpBarrier(members),
        |_| true,
        |_| (),
    )
}

/// Which lane a shuffle reads from.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

const UP: u32 = Shuffle::Up as u32;
const DOWN: u32 = Shuffle::Down as u32;
const BUTTERFLY: u32 = Shuffle::Butterfly as u32;
const INDEX: u32 = Shuffle::Index as u32;

/// `shfl`: operands d, p (may be a sink), a, b, c, members. `x`: the [`Shuffle`].
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn shuffle(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 2 to 5 are 32-bit rows, operand 1 a predicate.
    unsafe {
        grouped(sm, inst, 5, |sm, _| {
            let value = sm.row::<u32>(inst, 2);
            let (b, c) = (sm.row::<u32>(inst, 3), sm.row::<u32>(inst, 4));
            let (result, inside) = match Cpu::detect() {
                // SAFETY: the CPU has AVX2.
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => shuffled_wide(inst.arg0, value, b, c),
                _ => shuffled(inst.arg0, value, b, c),
            };
            sm.write(inst, 0, result);
            sm.set_predicate(inst, 1, inside);
        })
    }
}

/// [`shuffled`] for a CPU with wide registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn shuffled_wide(
    kind: u32,
    value: &[u32; LANES],
    b: &[u32; LANES],
    c: &[u32; LANES],
) -> ([u32; LANES], u32) {
    shuffled(kind, value, b, c)
}

/// What each lane reads, and whether it is from inside its segment, a bit each.
#[inline(always)]
fn shuffled(
    kind: u32,
    value: &[u32; LANES],
    b: &[u32; LANES],
    c: &[u32; LANES],
) -> ([u32; LANES], u32) {
    // With a number that is known here the lanes take the same steps.
    match kind {
        UP => shuffled_by::<UP>(value, b, c),
        DOWN => shuffled_by::<DOWN>(value, b, c),
        BUTTERFLY => shuffled_by::<BUTTERFLY>(value, b, c),
        _ => shuffled_by::<INDEX>(value, b, c),
    }
}

#[inline(always)]
fn shuffled_by<const KIND: u32>(
    value: &[u32; LANES],
    b: &[u32; LANES],
    c: &[u32; LANES],
) -> ([u32; LANES], u32) {
    let (mut from, mut inside) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let (lane_read, is_inside) = source_lane(KIND, lane as u32, b[lane], c[lane]);
        from[lane] = lane_read;
        inside[lane] = u32::from(is_inside) << lane;
    }
    // A lane that does not run has no value to give: hardware leaves it undefined.
    let result = from.map(|lane| value[lane as usize % LANES]);
    (result, inside.iter().fold(0, |all, one| all | one))
}

/// Of the lanes that take part in a shuffle, those that ask a lane that does not, and those that ask another
/// lane at all.
///
/// # Safety
/// As for [`warp_sync`], for a shuffle.
pub unsafe fn asked_in_vain(sm: &Sm, inst: &Inst, taking_part: u32) -> (u32, u32) {
    // SAFETY: operands 3 and 4 of a shuffle are 32-bit rows.
    let (b, c) = unsafe { (sm.row::<u32>(inst, 3), sm.row::<u32>(inst, 4)) };
    let (mut in_vain, mut asking) = (0, 0);
    for lane in active(taking_part) {
        let (from, _) = source_lane(inst.arg0, lane as u32, b[lane], c[lane]);
        asking |= u32::from(from != lane as u32) << lane;
        in_vain |= (!taking_part >> from & 1) << lane;
    }
    (in_vain, asking)
}

/// The lane read and whether it is inside the segment.
#[inline(always)]
fn source_lane(kind: u32, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let b = b & 31;
    let (clamp, segment) = (c & 31, (c >> 8) & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    let (from, inside) = match kind {
        UP => {
            let from = lane.wrapping_sub(b);
            (from, from as i32 >= highest as i32)
        }
        DOWN => (lane + b, lane + b <= highest),
        BUTTERFLY => (lane ^ b, lane ^ b <= highest),
        _ => {
            let from = lowest | (b & !segment);
            (from, from <= highest)
        }
    };
    if inside {
        (from & 31, true)
    } else {
        (lane, false)
    }
}

/// What a vote asks.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// `vote`: operands d (a row for ballot, else a predicate), predicate, members. `x`: the
/// [`Vote`]; `y`: the predicate is negated; `imm` 1: no member mask, the running lanes vote.
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn vote(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is a predicate, operand 2 a 32-bit row, operand 0 as said.
    unsafe {
        let ask = |sm: &mut Sm, members: u32| {
            let negate = if inst.arg1 == 1 { FULL } else { 0 };
            let voters = sm.mask & members;
            let yes = (sm.predicate(inst, 1) ^ negate) & voters;
            let holds = match inst.arg0 {
                v if v == Vote::Ballot as u32 => {
                    sm.write(inst, 0, [yes; LANES]);
                    return;
                }
                v if v == Vote::All as u32 => yes == voters,
                v if v == Vote::Any as u32 => yes != 0,
                _ => yes == 0 || yes == voters,
            };
            sm.set_predicate(inst, 0, if holds { FULL } else { 0 });
        };
        if inst.imm == 1 {
            let here = sm.mask;
            return together(sm, inst, here, |sm| ask(sm, here));
        }
        grouped(sm, inst, 2, ask)
    }
}

/// `match.any` and `match.all` on 32-bit (`y` = 0) or 64-bit values: operands d, p (a sink for
/// `any`), a, members. `x`: 1 for `all`.
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn find_match(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 3 are 32-bit rows, 1 a predicate, 2 a row as wide as `y` says.
    unsafe {
        grouped(sm, inst, 3, |sm, members| {
            let values: [u64; LANES] = if inst.arg1 == 0 {
                sm.row::<u32>(inst, 2).map(u64::from)
            } else {
                *sm.row::<u64>(inst, 2)
            };
            let voters = sm.mask & members;
            let mut result = [0; LANES];
            let mut left = voters;
            while left != 0 {
                // All that have the first one's value, at once.
                let value = values[left.trailing_zeros() as usize % LANES];
                let same = voters & where_true(0..LANES, |lane| values[lane] == value);
                for lane in active(same) {
                    result[lane] = same;
                }
                left &= !same;
            }
            if inst.arg0 == 1 {
                let all = active(voters).all(|lane| result[lane] == voters);
                sm.write(inst, 0, [if all { voters } else { 0 }; LANES]);
                sm.set_predicate(inst, 1, if all { FULL } else { 0 });
            } else {
                sm.write(inst, 0, result);
            }
        })
    }
}

/// What `redux.sync` computes.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Redux {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    MinFloat,
    MaxFloat,
}

/// `redux.sync`: operands d, a, members. `x`: the [`Redux`]; `imm` of single precision: 1 where magnitudes
/// are compared, plus 2 where a NaN wins.
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn reduce(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: all operands are 32-bit rows.
    unsafe {
        grouped(sm, inst, 2, |sm, members| {
            let values = sm.row::<u32>(inst, 1);
            let (abs, nan) = (inst.imm & 1 != 0, inst.imm & 2 != 0);
            let combine = |a: u32, b: u32| match inst.arg0 {
                r if r == Redux::Add as u32 => a.wrapping_add(b),
                r if r == Redux::MinUnsigned as u32 => a.min(b),
                r if r == Redux::MaxUnsigned as u32 => a.max(b),
                r if r == Redux::MinSigned as u32 => (a as i32).min(b as i32) as u32,
                r if r == Redux::MaxSigned as u32 => (a as i32).max(b as i32) as u32,
                r if r == Redux::And as u32 => a & b,
                r if r == Redux::Or as u32 => a | b,
                r if r == Redux::MinFloat as u32 => extremum::of_bits([a, b], false, nan),
                r if r == Redux::MaxFloat as u32 => extremum::of_bits([a, b], true, nan),
                _ => a ^ b,
            };
            let sign = if abs { u32::MAX >> 1 } else { u32::MAX };
            let voters = sm.mask & members;
            let result = active(voters)
                .map(|lane| values[lane] & sign)
                .reduce(combine)
                .unwrap_or(0);
            sm.write(inst, 0, [result; LANES]);
        })
    }
}

/// `elect.sync`: operands d (the elected lane), p (true in it), members.
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn elect(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 2 are 32-bit rows, operand 1 a predicate.
    unsafe {
        grouped(sm, inst, 2, |sm, members| {
            let leader = (sm.mask & members).trailing_zeros() & 31;
            sm.write(inst, 0, [leader; LANES]);
            sm.set_predicate(inst, 1, 1 << leader);
        })
    }
}

/// `activemask`: operand d.
///
/// # Safety
/// As for [`warp_sync`].
pub unsafe fn active_mask(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, [sm.mask; LANES]) };
    inst.next()
}
