//! Asynchronous copies from global to shared memory. Source: PTX ISA, section 9.7.9.25 (`cp.async`).
//!
//! What a copy brings is read when it starts, and it is in shared memory only once its thread has
//! waited for it: whoever reads there earlier finds what was there before. Both are among what a
//! GPU may do, and this choice shows a wait that is missing.

use super::access::translate;
use super::cp_async_groups::{MOST, StartedCopy};
use super::sm::{Inst, Next, Sm};
use super::state_space::{GlobalSpace, SharedSpace, SpaceAccess as _};
use crate::lanes::LANES;

/// How much of its source a copy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum SourceBytes {
    Whole,
    /// As many bytes as a 32-bit operand says.
    Bytes,
    /// Nothing where a predicate holds.
    Unless,
}

/// Where a lane copies to and from, as the instruction says.
///
/// # Safety
/// `inst` is a [`start`].
#[inline(always)]
pub unsafe fn addresses(sm: &Sm, inst: &Inst) -> ([u64; LANES], [u64; LANES]) {
    // SAFETY: operands 0 and 1 are 64-bit rows.
    let (to, from) = unsafe { (sm.row::<u64>(inst, 0), sm.row::<u64>(inst, 1)) };
    (
        to.map(|to| to.wrapping_add_signed(i64::from(inst.arg1 as i32))),
        from.map(|from| from.wrapping_add(inst.imm)),
    )
}

/// The most bytes that each lane reads.
///
/// # Safety
/// `inst` is a [`start`].
#[inline(always)]
pub unsafe fn sizes(sm: &Sm, inst: &Inst) -> [u32; LANES] {
    let how = inst.arg0;
    // SAFETY: operand 2 is a 32-bit row or a predicate, as `how` says.
    unsafe {
        if how == SourceBytes::Bytes as u32 {
            *sm.row::<u32>(inst, 2)
        } else if how == SourceBytes::Unless as u32 {
            let nothing = sm.predicate(inst, 2);
            std::array::from_fn(|lane| match nothing >> lane & 1 {
                1 => 0,
                _ => u32::MAX,
            })
        } else {
            [u32::MAX; LANES]
        }
    }
}

/// `cp.async`: operands the address in shared memory, plus `y`; the address in global memory, plus
/// `imm`; and what the [`SourceBytes`] says, which `x` is. Bytes of the destination that the
/// source has none for become zero.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; so for every handler here.
pub unsafe fn start<const BYTES: usize>(sm: &mut Sm, inst: &Inst) -> Next {
    let bytes = BYTES as u64;
    // SAFETY: the instruction is this one.
    let ((to, from), sizes) = unsafe { (addresses(sm, inst), sizes(sm, inst)) };
    let mut copy = StartedCopy {
        group: 0,
        lanes: sm.mask,
        bytes: BYTES,
        to: [0; LANES],
        data: [[0; MOST]; LANES],
    };
    let mut lane = 0;
    while lane < LANES {
        if sm.mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        // Lanes that copy from one place on are read at once, unless one of them is not right.
        let mut together = 1;
        while lane + together < LANES
            && sm.mask >> (lane + together) & 1 == 1
            && from[lane + together] == from[lane].wrapping_add(together as u64 * bytes)
        {
            together += 1;
        }
        let whole = sizes[lane..lane + together]
            .iter()
            .all(|&size| u64::from(size) >= bytes);
        let span = together as u64 * bytes;
        if whole
            && fits(sm, &to[lane..lane + together], bytes)
            && let Ok(host) = translate::<GlobalSpace>(sm, lane, from[lane], span, bytes, false)
        {
            for next in lane..lane + together {
                copy.to[next] = to[next] as u32;
                // SAFETY: `translate` found as many bytes for each of these lanes.
                unsafe {
                    let host = host.add((next - lane) * BYTES);
                    host.copy_to_nonoverlapping(copy.data[next].as_mut_ptr(), BYTES);
                }
            }
            lane += together;
            continue;
        }
        for next in lane..lane + together {
            if let Err(kind) = translate::<SharedSpace>(sm, next, to[next], bytes, bytes, true) {
                return sm.fail(inst, next, kind);
            }
            copy.to[next] = to[next] as u32;
            let wanted = bytes.min(sizes[next].into());
            if wanted == 0 {
                continue;
            }
            match translate::<GlobalSpace>(sm, next, from[next], wanted, bytes, false) {
                // SAFETY: `translate` found `wanted` bytes, no more than a lane's data has.
                Ok(host) => unsafe {
                    host.copy_to_nonoverlapping(copy.data[next].as_mut_ptr(), wanted as usize);
                },
                Err(kind) => return sm.fail(inst, next, kind),
            }
        }
        lane += together;
    }
    GlobalSpace::count(sm, false, 1, sm.mask.count_ones().into());
    sm.block.warp_mut().copies.start(&copy);
    inst.next()
}

/// Whether all of these are where a lane may copy so many bytes to.
#[inline(always)]
fn fits(sm: &Sm, to: &[u64], bytes: u64) -> bool {
    let room = u64::from(sm.block.shared_bytes);
    let inside = |&to: &u64| to % bytes == 0 && to < room && room - to >= bytes;
    to.iter().all(inside)
}

/// `cp.async.commit_group`
///
/// # Safety
/// As for [`start`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    let mask = sm.mask;
    sm.block.warp_mut().copies.commit(mask);
    inst.next()
}

/// `cp.async.wait_group`: until at most the newest `x` groups are on their way.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_group(sm: &mut Sm, inst: &Inst) -> Next {
    finish(sm, inst.arg0, false);
    inst.next()
}

/// `cp.async.wait_all`: until no copy is on its way.
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
}
