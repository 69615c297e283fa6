//! Counting of atomics on shared memory that a GPU implements as loops of loads and compare-and-swaps.

use super::{access, profiler};
use crate::exec::memory::atomic::Atomic;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::profile::traffic::{CasLoop, first_lane_per_bank};

/// Counts a loop in which each swap changes the value, so that the number of iterations follows from the
/// addresses alone.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is such an atomic.
pub unsafe fn always(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a memory access.
    let (counted, transfer, at) = unsafe { access(sm, inst) };
    let (slot, mask) = (counted.site.slot as usize, sm.mask);
    let warp = sm.block.running;
    profiler(sm).cas_loop(warp, slot, &at, mask, transfer);
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts a 64-bit minimum or maximum, in which lanes swap only while their value is better.
///
/// # Safety
/// The requirements of [`always`].
pub unsafe fn if_better(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a memory access, and operand 2 of such an atomic is a 64-bit row.
    let ((counted, _, at), values) = unsafe { (access(sm, inst), *sm.row::<u64>(inst, 2)) };
    let better: fn(u64, u64) -> bool = match Atomic::of(inst) {
        Atomic::MinUnsigned => |new, old| new < old,
        Atomic::MaxUnsigned => |new, old| new > old,
        Atomic::MinSigned => |new, old| new.cast_signed() < old.cast_signed(),
        _ => |new, old| new.cast_signed() > old.cast_signed(),
    };
    let shared = &sm.block.shared;
    let inside = |lane: usize| at[lane] % 8 == 0 && at[lane] / 8 < shared.len() as u64;
    if active(sm.mask).all(inside) {
        let before = |lane: usize| shared[at[lane] as usize / 8];
        let cas_loop = rounds(sm.mask, &at, &values, better, before);
        let (slot, mask, warp) = (counted.site.slot as usize, sm.mask, sm.block.running);
        profiler(sm).count_cas_loop(warp, slot, &at, mask, &cas_loop);
    }
    // SAFETY: `run` is the uninstrumented handler of this instruction; it reports invalid addresses.
    unsafe { (counted.run)(sm, inst) }
}

/// Simulates the iterations of the loop. In each, all waiting lanes load; lanes with a better value swap; of
/// the lanes at one address or bank, the first succeeds.
fn rounds(
    mask: u32,
    at: &[u64; LANES],
    values: &[u64; LANES],
    better: fn(u64, u64) -> bool,
    before: impl Fn(usize) -> u64,
) -> CasLoop {
    let mut memory: Vec<(u64, u64)> = Vec::new();
    for lane in active(mask) {
        if memory.iter().all(|&(address, _)| address != at[lane]) {
            memory.push((at[lane], before(lane)));
        }
    }
    let mut waiting = mask;
    let mut cas_loop = CasLoop::default();
    while waiting != 0 {
        let loaded = memory.clone();
        let index_of = |lane: usize| loaded.iter().position(|&(address, _)| address == at[lane]);
        let swap = active(waiting)
            .filter(|&lane| {
                index_of(lane).is_some_and(|index| better(values[lane], loaded[index].1))
            })
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let mut again = swap;
        for lane in active(first_lane_per_bank(at, swap, 8)) {
            if let Some(index) = index_of(lane)
                && memory[index] == loaded[index]
            {
                memory[index].1 = values[lane];
                again &= !(1 << lane);
            }
        }
        cas_loop.round(at, 8, (waiting, swap, again));
        waiting = again;
    }
    cas_loop
}
