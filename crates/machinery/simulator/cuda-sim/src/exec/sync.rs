//! Warp-wide instructions: shuffles, votes, matches, reductions and `bar.warp.sync`.
//!
//! Source: PTX ISA section 9.7.9.6 (`shfl.sync`), 9.7.13 (`vote`, `match`, `redux`, `activemask`,
//! `bar.warp.sync`).

use super::cpu::Cpu;
use super::lanewise::where_true;
use super::ops::float;
use super::sm::{Inst, Next, Sm};
use super::warp::{Split, SplitState};
use crate::lanes::{FULL, LANES, active};

/// Waits until all lanes named by `members` have arrived, then runs `body` with all that did.
///
/// On GPUs since Volta, lanes may arrive at a `.sync` instruction one by one. A split that arrives early
/// therefore waits; the last one runs the instruction for all, and then each continues by itself. Lanes at
/// another, matching instruction are waited for while anything else can run (see
/// [`Sm::release_matching_syncs`]).
#[inline(always)]
pub(super) fn converge(sm: &mut Sm, inst: &Inst, members: u32, body: impl FnOnce(&mut Sm)) -> Next {
    let needed = members & sm.block.warp().alive;
    if needed & !sm.mask == 0 {
        body(sm);
        return inst.next();
    }
    let here = sm.address_of(inst);
    let warp = sm.block.warp();
    let frame = warp.splits[warp.current as usize].frame;
    let matches = |split: &Split| split.pc == here && split.frame == frame;
    wait_for_lanes(sm, inst, needed, SplitState::Sync(members), matches, body)
}

#[cold]
fn wait_for_lanes(
    sm: &mut Sm,
    inst: &Inst,
    needed: u32,
    state: SplitState,
    matches: impl Fn(&Split) -> bool,
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
            split.state == state && matches(split)
        })
        .collect();
    let arrived = others
        .iter()
        .fold(sm.mask, |mask, &id| mask | warp.splits[id as usize].mask);
    if needed & !arrived != 0 {
        sm.suspend(here, state);
        return sm.switch();
    }
    let running = sm.mask;
    sm.set_active_lanes(arrived);
    body(sm);
    sm.set_active_lanes(running);
    let warp = sm.block.warp_mut();
    for id in others {
        let split = &mut warp.splits[id as usize];
        split.state = SplitState::Ready;
        split.pc += 1;
        warp.ready.push_back(id);
    }
    inst.next()
}

/// Returns a row's value in the first active lane.
#[inline(always)]
fn first(sm: &Sm, row: &[u32; LANES]) -> u32 {
    row[sm.mask.trailing_zeros() as usize & 31]
}

/// Waits until all lanes named by operand `mask` have arrived, then runs `body` with all that did. Lanes may
/// name different masks, as the tiles of a warp do; each such group is independent.
///
/// # Safety
/// Operand `mask` must be a 32-bit row.
#[inline(always)]
unsafe fn converge_groups(
    sm: &mut Sm,
    inst: &Inst,
    mask: usize,
    body: impl Fn(&mut Sm, u32),
) -> Next {
    // SAFETY: the caller guarantees that operand `mask` is a 32-bit row.
    let row = unsafe { sm.row::<u32>(inst, mask) };
    let members = first(sm, row);
    // Compares all lanes, active or not, which takes only a few instructions.
    let differ = row
        .iter()
        .fold(0, |differ, &other| differ | (other ^ members));
    if differ == 0 {
        return converge(sm, inst, members, |sm| body(sm, members));
    }
    // SAFETY: the caller guarantees that operand `mask` is a 32-bit row.
    unsafe { run_groups(sm, inst, mask, body) }
}

/// Implements [`converge_groups`] for lanes that name different masks.
///
/// # Safety
/// The requirements of [`converge_groups`].
#[cold]
unsafe fn run_groups(sm: &mut Sm, inst: &Inst, mask: usize, body: impl Fn(&mut Sm, u32)) -> Next {
    // SAFETY: the caller guarantees that operand `mask` is a 32-bit row.
    let row = *unsafe { sm.row::<u32>(inst, mask) };
    let (running, alive) = (sm.mask, sm.block.warp().alive);
    // Groups that are complete run first; the others wait for their remaining lanes.
    let (mut remaining, mut incomplete, mut awaited) = (running, 0, 0);
    while remaining != 0 {
        let members = row[remaining.trailing_zeros() as usize & 31];
        let group = lanes_with(&row, members, remaining);
        remaining &= !group;
        if members & alive & !running == 0 {
            sm.set_active_lanes(group);
            body(sm, members);
        } else {
            incomplete |= group;
            awaited |= members;
        }
    }
    sm.set_active_lanes(running);
    if incomplete == 0 {
        return inst.next();
    }
    converge(sm, inst, awaited, |sm| {
        let arrived = sm.mask;
        let mut remaining = arrived & awaited;
        while remaining != 0 {
            let members = row[remaining.trailing_zeros() as usize & 31];
            let group = lanes_with(&row, members, remaining);
            remaining &= !group;
            sm.set_active_lanes(group);
            body(sm, members);
        }
        sm.set_active_lanes(arrived);
    })
}

/// Returns the lanes of `lanes` whose mask is `members`.
fn lanes_with(row: &[u32; LANES], members: u32, lanes: u32) -> u32 {
    active(lanes)
        .filter(|&lane| row[lane] == members)
        .fold(0, |group, lane| group | 1 << lane)
}

/// Runs `bar.warp.sync`. Operand 0 is the member mask.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn warp_sync(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let members = first(sm, unsafe { sm.row(inst, 0) });
    let needed = members & sm.block.warp().alive;
    if needed & !sm.mask == 0 {
        return inst.next();
    }
    // No data is exchanged, so lanes may arrive at different instructions.
    wait_for_lanes(
        sm,
        inst,
        needed,
        SplitState::WarpBarrier(members),
        |_| true,
        |_| (),
    )
}

/// The source lane of a shuffle.
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

/// Runs `shfl`. Operands: d, p (may be a sink), a, b, c, members; `arg0` is the [`Shuffle`].
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn shuffle(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 2 to 5 are 32-bit rows, operand 1 a predicate.
    unsafe {
        converge_groups(sm, inst, 5, |sm, _| {
            let value = sm.row::<u32>(inst, 2);
            let (b, c) = (sm.row::<u32>(inst, 3), sm.row::<u32>(inst, 4));
            let (mut result, inside) = match Cpu::detect() {
                // SAFETY: `Cpu::detect` found AVX2.
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => shuffled_wide(inst.arg0, value, b, c),
                _ => shuffled(inst.arg0, value, b, c),
            };
            // The value of a lane that does not take part is undefined.
            let poison = sm.grid.poison;
            if poison != 0 && sm.mask != FULL {
                let (undefined, _) = invalid_sources(sm, inst, sm.mask);
                active(undefined).for_each(|lane| result[lane] = poison);
            }
            sm.write(inst, 0, result);
            sm.set_predicate(inst, 1, inside);
        })
    }
}

/// Runs [`shuffled`] on a CPU with wide registers.
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

/// Returns the value that each lane reads, and a mask of the lanes whose source is inside their segment.
#[inline(always)]
fn shuffled(
    kind: u32,
    value: &[u32; LANES],
    b: &[u32; LANES],
    c: &[u32; LANES],
) -> ([u32; LANES], u32) {
    // A constant kind lets the compiler vectorize the loop.
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
    let result = from.map(|lane| value[lane as usize % LANES]);
    (result, inside.iter().fold(0, |all, bit| all | bit))
}

/// Returns, among the lanes of `participants` that execute a shuffle, the mask of those that read a lane which
/// does not take part, and the mask of those that read any other lane.
///
/// # Safety
/// The requirements of [`warp_sync`]; the instruction must be a shuffle.
pub unsafe fn invalid_sources(sm: &Sm, inst: &Inst, participants: u32) -> (u32, u32) {
    // SAFETY: operands 3 and 4 of a shuffle are 32-bit rows.
    let (b, c) = unsafe { (sm.row::<u32>(inst, 3), sm.row::<u32>(inst, 4)) };
    let (mut invalid, mut reading) = (0, 0);
    for lane in active(participants) {
        let (from, _) = source_lane(inst.arg0, lane as u32, b[lane], c[lane]);
        reading |= u32::from(from != lane as u32) << lane;
        invalid |= (!participants >> from & 1) << lane;
    }
    (invalid, reading)
}

/// Returns the lane read, and true if it is inside the segment.
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

/// The question of a vote.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Runs `vote`. Operands: d (a row for a ballot, otherwise a predicate), predicate, members; `arg0` is the
/// [`Vote`]; `arg1` is 1 if the predicate is negated; `imm` is 1 if there is no member mask and the active
/// lanes vote.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn vote(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is a predicate, operand 2 a 32-bit row, operand 0 a row or predicate according to
    // `arg0`.
    unsafe {
        let evaluate = |sm: &mut Sm, members: u32| {
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
            return converge(sm, inst, here, |sm| evaluate(sm, here));
        }
        converge_groups(sm, inst, 2, evaluate)
    }
}

/// Runs `match.any` and `match.all` on 32-bit values (`arg1` is 0) or 64-bit values. Operands: d, p (a sink for
/// `any`), a, members; `arg0` is 1 for `all`.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn find_match(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 3 are 32-bit rows, 1 a predicate, 2 a row of the width in `arg1`.
    unsafe {
        converge_groups(sm, inst, 3, |sm, members| {
            let values: [u64; LANES] = if inst.arg1 == 0 {
                sm.row::<u32>(inst, 2).map(u64::from)
            } else {
                *sm.row::<u64>(inst, 2)
            };
            let voters = sm.mask & members;
            let mut result = [0; LANES];
            let mut remaining = voters;
            while remaining != 0 {
                // Handles all lanes with the first lane's value at once.
                let value = values[remaining.trailing_zeros() as usize % LANES];
                let matching = voters & where_true(0..LANES, |lane| values[lane] == value);
                for lane in active(matching) {
                    result[lane] = matching;
                }
                remaining &= !matching;
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

/// The operation of `redux.sync`.
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

/// Runs `redux.sync`. Operands: d, a, members; `arg0` is the [`Redux`]. For single precision, bit 0 of `imm`
/// selects magnitudes, and bit 1 lets a NaN win.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn reduce(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: all operands are 32-bit rows.
    unsafe {
        converge_groups(sm, inst, 2, |sm, members| {
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
                r if r == Redux::MinFloat as u32 => float::of_bits([a, b], false, nan),
                r if r == Redux::MaxFloat as u32 => float::of_bits([a, b], true, nan),
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

/// Runs `elect.sync`. Operands: d (the elected lane), p (true in that lane), members.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn elect(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 2 are 32-bit rows, operand 1 a predicate.
    unsafe {
        converge_groups(sm, inst, 2, |sm, members| {
            let leader = (sm.mask & members).trailing_zeros() & 31;
            sm.write(inst, 0, [leader; LANES]);
            sm.set_predicate(inst, 1, 1 << leader);
        })
    }
}

/// Runs `activemask`. Operand: d. With a random schedule the lanes are often two groups, each of which gets its own mask: a
/// GPU does not guarantee that the lanes of a warp execute together.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn active_mask(sm: &mut Sm, inst: &Inst) -> Next {
    let mut row = [sm.mask; LANES];
    if let Some(schedule) = &mut sm.schedule
        && schedule.coin_flip()
    {
        let group = active(sm.mask)
            .filter(|_| schedule.coin_flip())
            .fold(0, |group, lane| group | 1 << lane);
        for (lane, mask) in row.iter_mut().enumerate() {
            *mask = if group >> lane & 1 == 1 {
                group
            } else {
                sm.mask & !group
            };
        }
    }
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, row) };
    inst.next()
}

/// Writes the mask of the active lanes, for instructions without a member mask. Operand: d.
///
/// # Safety
/// The requirements of [`warp_sync`].
pub unsafe fn running_lanes(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, [sm.mask; LANES]) };
    inst.next()
}
