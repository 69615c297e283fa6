//! Loads and stores by gangs.

use super::translate;
use super::warp::load_operands;
use super::warp::{StoreOperands, store_operands};
use super::{Element, load_lanes, store_lanes};
use crate::exec::lanewise::{GangView, View};
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::profiler::access_pattern::{AccessPattern, PatternKey};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, LANES_PER_QUARTER};

/// Returns the key of the cached access pattern of the running gang's access. Instructions with the same
/// addresses share an entry, except in profiled blocks, where entries also hold counters.
#[inline(always)]
pub fn pattern_key(sm: &Sm, inst: &Inst) -> PatternKey {
    let distance = match sm.profiler {
        Some(_) => 0,
        None => u32::from(inst.reuse_distance),
    };
    PatternKey {
        address: sm.address_of(inst) - distance,
        full: sm.gang.count == sm.gang_size,
        reuses_earlier: distance > 0,
    }
}

/// Translates the addresses of a gang's access, operand `n`, if each quarter warp is uniform or contiguous.
/// Counts the access and returns its pattern, which must be put back, and the host address of its lowest byte.
/// Returns `None` for other patterns, faults and memory outside a single allocation.
///
/// # Safety
/// Operand `n` must be a 64-bit row in each warp's own frame.
#[inline(always)]
unsafe fn translate_gang<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    n: usize,
    size: u64,
    write: bool,
) -> Option<(Box<AccessPattern>, *mut u8)> {
    let warps = sm.gang.full_warp_count()?;
    let (at, key) = (inst.operands[n] as usize, pattern_key(sm, inst));
    let frames = &sm.gang.frames;
    // SAFETY: operand `n` is a 64-bit row of each frame, and nothing writes to it while `rows` is in use.
    let rows = |member: usize| unsafe { &*frames[member][0].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(inst.imm);
    let mut pattern = sm.patterns.take(key, size, warps, rows)?;
    let (lowest, bytes) = pattern.extent();
    let lowest = origin.wrapping_add(lowest);
    // Lanes that write to one address must do so in order, so only contiguous stores qualify.
    let orderly = !write || pattern.all_contiguous() && S::writable(sm, lowest);
    let host = if orderly && origin & (size - 1) == 0 {
        S::host(sm, 0, lowest, bytes)
    } else {
        std::ptr::null_mut()
    };
    if host.is_null() {
        // Some lane faults, or the lanes access several allocations.
        sm.patterns.put_back(key, pattern);
        return None;
    }
    for &(start, bytes) in pattern.take_untouched(origin, sm.memory.epoch) {
        S::touch(sm, lowest, origin.wrapping_add(start), bytes, write);
    }
    S::count(sm, write, warps as u64, (warps * LANES) as u64);
    Some((pattern, host))
}

/// Runs a gang's load: once for a uniform address, from a cached pattern if the addresses have one, otherwise
/// warp by warp.
#[inline(always)]
pub unsafe fn run_gang_load<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    one_warp: impl Fn(&mut Sm, &[u64; LANES]) -> bool,
) -> Next {
    let size = (size_of::<M>() * N) as u64;
    if inst.uniform >> N & 1 == 0 {
        // SAFETY: operand `N`, after the destinations, is a 64-bit row.
        if let Some((pattern, host)) = unsafe { translate_gang::<S>(sm, inst, N, size, false) } {
            for member in 0..sm.gang.count {
                let frame = sm.gang.frames[member][0];
                // SAFETY: `translate_gang` checked the memory of all lanes, and the destinations are rows.
                unsafe {
                    if let Some(start) = pattern.consecutive(member) {
                        let values = load_lanes::<M, N, LANES>(host.add(start).cast());
                        for (part, row) in values.into_iter().enumerate() {
                            *frame.add(inst.operands[part] as usize).cast() = row;
                        }
                        continue;
                    }
                    for (quarter, (start, contiguous)) in pattern.of_warp(member).enumerate() {
                        let host = host.add(start).cast::<M>();
                        let values = if contiguous {
                            load_lanes::<M, N, LANES_PER_QUARTER>(host)
                        } else {
                            let value = |part| host.add(part).read_unaligned().widen();
                            std::array::from_fn(|part| [value(part); LANES_PER_QUARTER])
                        };
                        for (part, values) in values.into_iter().enumerate() {
                            let row = frame.add(inst.operands[part] as usize);
                            *row.cast::<[M::Row; LANES_PER_QUARTER]>().add(quarter) = values;
                        }
                    }
                }
            }
            sm.patterns.put_back(pattern_key(sm, inst), pattern);
            return inst.next();
        }
        // SAFETY: operand `N` is a 64-bit row, and the destinations are rows, as for any load.
        return warp_by_warp(sm, inst, |sm, member| unsafe {
            one_warp(
                sm,
                load_operands::<M, N>(GangView::of(&sm.gang, member), sm, inst),
            )
        });
    }
    sm.select_warp(0);
    // SAFETY: operand `N` is a 64-bit row; because it is uniform, its first lane stands for all.
    let address =
        unsafe { GangView::of(&sm.gang, 0).row::<u64>(sm, inst, N) }[0].wrapping_add(inst.imm);
    let host = match translate::<S>(sm, 0, address, size, size, false) {
        Ok(host) => host.cast::<M>(),
        Err(_) => return sm.fail_in_gang(inst),
    };
    let (warps, threads) = (sm.gang.count as u64, sm.gang.threads());
    S::count(sm, false, warps, threads);
    for part in 0..N {
        // SAFETY: `translate` checked `size` bytes at `host`, and the destinations are rows.
        unsafe {
            let value = host.add(part).read_unaligned().widen();
            sm.write_all_frames(inst, part, [value; LANES]);
        }
    }
    inst.next()
}

/// Runs an access warp by warp. `access` returns false on a fault.
#[inline(always)]
fn warp_by_warp(sm: &mut Sm, inst: &Inst, access: impl Fn(&mut Sm, usize) -> bool) -> Next {
    for member in 0..sm.gang.count {
        sm.select_warp(member);
        if !access(sm, member) {
            return sm.fail_in_gang(inst);
        }
    }
    inst.next()
}

/// Runs a gang's store: from a cached pattern if all quarter warps are contiguous, otherwise warp by warp.
#[inline(always)]
pub unsafe fn run_gang_store<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    one_warp: impl Fn(&mut Sm, StoreOperands<M::Row, N>) -> bool,
) -> Next {
    let size = (size_of::<M>() * N) as u64;
    if inst.uniform & 1 == 0 {
        // SAFETY: operand 0 is a 64-bit row.
        if let Some((pattern, host)) = unsafe { translate_gang::<S>(sm, inst, 0, size, true) } {
            for member in 0..sm.gang.count {
                let view = GangView::of(&sm.gang, member);
                // SAFETY: the values are rows, and `translate_gang` checked the memory of all lanes.
                unsafe {
                    let rows = std::array::from_fn(|part| view.row::<M::Row>(sm, inst, 1 + part));
                    if let Some(start) = pattern.consecutive(member) {
                        store_lanes::<M, N, LANES>(host.add(start).cast(), rows, 0);
                        continue;
                    }
                    for (quarter, (start, _)) in pattern.of_warp(member).enumerate() {
                        store_lanes::<M, N, LANES_PER_QUARTER>(
                            host.add(start).cast(),
                            rows,
                            quarter * LANES_PER_QUARTER,
                        );
                    }
                }
            }
            sm.patterns.put_back(pattern_key(sm, inst), pattern);
            return inst.next();
        }
    }
    // SAFETY: operand 0 is a 64-bit row and the values are rows, as for any store.
    warp_by_warp(sm, inst, |sm, member| unsafe {
        one_warp(
            sm,
            store_operands::<M, N>(GangView::of(&sm.gang, member), sm, inst),
        )
    })
}
