//! Asynchronous copies from global to shared memory (`cp.async`). Source: PTX ISA, section 9.7.9.25.
//!
//! The source is read when a copy starts; the destination is written only when its thread waits for the copy,
//! and earlier reads find the old contents. A GPU may do both, and this choice exposes a missing wait.

use super::access::{recover, translate, translate_lane};
use super::state_space::{GlobalSpace, SharedSpace, SpaceAccess as _};
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::async_groups::{MAX_BYTES, StartedCopy};
use crate::lanes::{LANES, active};

/// The number of bytes that a copy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum SourceBytes {
    Whole,
    /// As given by a 32-bit operand.
    Bytes,
    /// Zero where a predicate is true.
    Unless,
}

/// Returns each lane's destination and source addresses.
///
/// # Safety
/// `inst` must be a [`start`].
#[inline(always)]
pub unsafe fn addresses(sm: &Sm, inst: &Inst) -> ([u64; LANES], [u64; LANES]) {
    // SAFETY: operands 0 and 1 are 64-bit rows.
    let (to, from) = unsafe { (sm.row::<u64>(inst, 0), sm.row::<u64>(inst, 1)) };
    (
        to.map(|to| to.wrapping_add_signed(i64::from(inst.arg1 as i32))),
        from.map(|from| from.wrapping_add(inst.imm)),
    )
}

/// Returns the maximum number of bytes that each lane reads.
///
/// # Safety
/// `inst` must be a [`start`].
#[inline(always)]
pub unsafe fn sizes(sm: &Sm, inst: &Inst) -> [u32; LANES] {
    let source_kind = inst.arg0;
    // SAFETY: operand 2 of a `start` is a 32-bit row or a predicate, according to `arg0`.
    unsafe {
        if source_kind == SourceBytes::Bytes as u32 {
            *sm.row::<u32>(inst, 2)
        } else if source_kind == SourceBytes::Unless as u32 {
            let skipped = sm.predicate(inst, 2);
            std::array::from_fn(|lane| match skipped >> lane & 1 {
                1 => 0,
                _ => u32::MAX,
            })
        } else {
            [u32::MAX; LANES]
        }
    }
}

/// Runs `cp.async`. The operands are the address in shared memory, plus `arg1`; the address in global memory,
/// plus `imm`; and the operand of the [`SourceBytes`] in `arg0`. Destination bytes without a source become
/// zero.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn start<const BYTES: usize>(sm: &mut Sm, inst: &Inst) -> Next {
    let bytes = BYTES as u64;
    // SAFETY: `inst` is a `start`, since this is its handler.
    let ((to, from), sizes) = unsafe { (addresses(sm, inst), sizes(sm, inst)) };
    let mut copy = StartedCopy {
        group: 0,
        reads: active(sm.mask).any(|lane| sizes[lane] > 0),
        lanes: sm.mask,
        bytes: BYTES,
        to: [0; LANES],
        data: [[0; MAX_BYTES]; LANES],
    };
    let mut lane = 0;
    while lane < LANES {
        if sm.mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        // Contiguous lanes are read at once, unless one of them faults.
        let mut run_length = 1;
        while lane + run_length < LANES
            && sm.mask >> (lane + run_length) & 1 == 1
            && from[lane + run_length] == from[lane].wrapping_add(run_length as u64 * bytes)
        {
            run_length += 1;
        }
        let all_full = sizes[lane..lane + run_length]
            .iter()
            .all(|&size| u64::from(size) >= bytes);
        let span = run_length as u64 * bytes;
        if all_full
            && fits(sm, &to[lane..lane + run_length], bytes)
            && let Ok(host) = translate::<GlobalSpace>(sm, lane, from[lane], span, bytes, false)
        {
            for next in lane..lane + run_length {
                copy.to[next] = to[next] as u32;
                // SAFETY: `translate` checked `span` bytes, `BYTES` for each of these lanes.
                unsafe {
                    let host = host.add((next - lane) * BYTES);
                    host.copy_to_nonoverlapping(copy.data[next].as_mut_ptr(), BYTES);
                }
            }
            lane += run_length;
            continue;
        }
        for next in lane..lane + run_length {
            if translate_lane::<SharedSpace>(sm, inst, next, to[next], bytes, true).is_none() {
                return std::ptr::null();
            }
            copy.to[next] = to[next] as u32;
            let size = bytes.min(sizes[next].into());
            if size == 0 {
                continue;
            }
            let host = match translate::<GlobalSpace>(sm, next, from[next], size, bytes, false) {
                Ok(host) => Some(host),
                Err(access) => recover::<GlobalSpace>(sm, inst, next, access, size),
            };
            let Some(host) = host else {
                return std::ptr::null();
            };
            // SAFETY: `size` bytes were checked, which is at most `MAX_BYTES`.
            unsafe { host.copy_to_nonoverlapping(copy.data[next].as_mut_ptr(), size as usize) };
        }
        lane += run_length;
    }
    GlobalSpace::count(sm, false, 1, sm.mask.count_ones().into());
    sm.block.warp_mut().copies.start(&copy);
    trace_copies(sm);
    inst.next()
}

/// Returns true if `bytes` bytes can be copied to each of the addresses `to`.
#[inline(always)]
fn fits(sm: &Sm, to: &[u64], bytes: u64) -> bool {
    let shared_bytes = u64::from(sm.block.shared_bytes);
    let inside = |&to: &u64| to % bytes == 0 && to < shared_bytes && shared_bytes - to >= bytes;
    to.iter().all(inside)
}

/// Runs `cp.async.commit_group`.
///
/// # Safety
/// As for [`start`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    let mask = sm.mask;
    sm.block.warp_mut().copies.commit(mask);
    inst.next()
}

/// Runs `cp.async.wait_group`: waits until at most the newest `arg0` groups are in flight.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_group(sm: &mut Sm, inst: &Inst) -> Next {
    finish(sm, inst.arg0, false);
    inst.next()
}

/// Runs `cp.async.wait_all`: waits until no copy is in flight.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_all(sm: &mut Sm, inst: &Inst) -> Next {
    finish(sm, 0, true);
    inst.next()
}

fn finish(sm: &mut Sm, pending: u32, all: bool) {
    let (mask, block) = (sm.mask, &mut *sm.block);
    let copies = &mut block.warps[block.running].copies;
    copies.finish(mask, pending, all, &mut block.shared);
    trace_copies(sm);
}

/// Tells the trace of a traced launch how many bytes of the running warp's copies are in flight.
fn trace_copies(sm: &mut Sm) {
    if let Some(profiler) = &mut sm.profiler {
        let warp = sm.block.running;
        profiler.trace_copies(warp, sm.block.warps[warp].copies.bytes_in_flight());
    }
}
