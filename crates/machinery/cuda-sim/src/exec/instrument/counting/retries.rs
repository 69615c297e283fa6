//! Atomics on shared memory that are loops of loads and compare-and-swaps, counted.

use super::{access, profiler};
use crate::exec::atomic::Atomic;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::profile::traffic::{Retried, first_at_banks};

/// Each swap changes the value: how often lanes go round follows from their addresses alone.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`], for such an atomic.
pub unsafe fn always(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is one that accesses memory.
    let (counted, transfer, at) = unsafe { access(sm, inst) };
    let (slot, mask) = (counted.site.slot as usize, sm.mask);
    let warp = sm.block.running;
    profiler(sm).retried(warp, slot, &at, mask, transfer);
    // SAFETY: the instruction was made for this handler.
    unsafe { (counted.run)(sm, inst) }
}

/// A minimum or a maximum of 64 bits: lanes swap while they have something better.
///
/// # Safety
/// As for [`always`].
pub unsafe fn if_better(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is one that accesses memory, and operand 2 of such an atomic a 64-bit row.
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
        let retried = rounds(sm.mask, &at, &values, better, before);
        let (slot, mask, warp) = (counted.site.slot as usize, sm.mask, sm.block.running);
        profiler(sm).count_retried(warp, slot, &at, mask, &retried);
    }
    // SAFETY: the instruction was made for this handler, and stops where an address is wrong.
    unsafe { (counted.run)(sm, inst) }
}

/// Goes round with the lanes: all load, those swap that have something better, and of those at one address,
/// or at one bank, the first has its way.
fn rounds(
    mask: u32,
    at: &[u64; LANES],
    values: &[u64; LANES],
    better: fn(u64, u64) -> bool,
    before: impl Fn(usize) -> u64,
) -> Retried {
    let mut memory: Vec<(u64, u64)> = Vec::new();
    for lane in active(mask) {
        if memory.iter().all(|&(address, _)| address != at[lane]) {
            memory.push((at[lane], before(lane)));
        }
    }
    let mut waiting = mask;
    let mut retried = Retried::default();
    while waiting != 0 {
        let loaded = memory.clone();
        let index_of = |lane: usize| loaded.iter().position(|&(address, _)| address == at[lane]);
        let swap = active(waiting)
            .filter(|&lane| {
                index_of(lane).is_some_and(|index| better(values[lane], loaded[index].1))
            })
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let mut again = swap;
        for lane in active(first_at_banks(at, swap, 8)) {
            if let Some(index) = index_of(lane)
                && memory[index] == loaded[index]
            {
                memory[index].1 = values[lane];
                again &= !(1 << lane);
            }
        }
        retried.round(at, 8, (waiting, swap, again));
        waiting = again;
    }
    retried
}
