//! Atomics on shared memory that are loops of loads and compare-and-swaps, counted.

use super::{access, observer};
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
    let (observed, transfer, at) = unsafe { access(sm, inst) };
    let (slot, mask) = (observed.site.slot as usize, sm.mask);
    let warp = sm.block.running;
    observer(sm).retried(warp, slot, &at, mask, transfer);
    // SAFETY: the instruction was made for this handler.
    unsafe { (observed.run)(sm, inst) }
}

/// A minimum or a maximum of 64 bits: lanes swap while they have something better.
///
/// # Safety
/// As for [`always`].
pub unsafe fn if_better(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is one that accesses memory, and operand 2 of such an atomic a 64-bit row.
    let ((observed, _, at), values) = unsafe { (access(sm, inst), *sm.row::<u64>(inst, 2)) };
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
        let (slot, mask, warp) = (observed.site.slot as usize, sm.mask, sm.block.running);
        observer(sm).count_retried(warp, slot, &at, mask, &retried);
    }
    // SAFETY: the instruction was made for this handler, and stops where an address is wrong.
    unsafe { (observed.run)(sm, inst) }
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
        let place_of = |lane: usize| loaded.iter().position(|&(at_it, _)| at_it == at[lane]);
        let swap = active(waiting)
            .filter(|&lane| {
                place_of(lane).is_some_and(|place| better(values[lane], loaded[place].1))
            })
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let mut again = swap;
        for lane in active(first_at_banks(at, swap, 8)) {
            if let Some(place) = place_of(lane)
                && memory[place] == loaded[place]
            {
                memory[place].1 = values[lane];
                again &= !(1 << lane);
            }
        }
        retried.round(at, 8, (waiting, swap, again));
        waiting = again;
    }
    retried
}
