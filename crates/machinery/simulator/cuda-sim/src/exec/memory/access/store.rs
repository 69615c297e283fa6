//! Stores by one warp.

use super::element::{Element, store_lanes};
use super::pattern::{LanePattern, pattern};
use super::translate::{record_fault, translate};
use crate::exec::lanewise::View;
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::sm::{Inst, Sm};
use crate::lanes::{FULL, LANES, LANES_PER_QUARTER, Quarter, active};

/// The registers read by a store of `N` elements: the address row and the value rows.
pub type StoreOperands<'a, R, const N: usize> = (&'a [u64; LANES], [&'a [R; LANES]; N]);

/// Returns a store's address row and value rows.
///
/// # Safety
/// Operand 0 must be a 64-bit row and the next `N` operands rows of values.
#[inline(always)]
pub unsafe fn store_operands<'a, M: Element, const N: usize>(
    view: impl View,
    sm: &Sm,
    inst: &Inst,
) -> StoreOperands<'a, M::Row, N> {
    // SAFETY: the caller guarantees the widths of the rows.
    unsafe {
        let rows = std::array::from_fn(|part| view.row::<M::Row>(sm, inst, 1 + part));
        (view.row::<u64>(sm, inst, 0), rows)
    }
}

/// Stores `N` elements per lane to `addresses` plus `imm`. If several lanes write to one address, the highest
/// lane's value remains. Returns false on a fault.
///
/// # Safety
/// None; the addresses are checked here. The function is unsafe because one macro makes the handlers of loads
/// and stores.
#[inline(always)]
pub unsafe fn run_store<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    (addresses, rows): StoreOperands<M::Row, N>,
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    if sm.mask == FULL {
        match pattern(sm, addresses, inst.imm, size) {
            LanePattern::Consecutive(start) => {
                if let Ok(host) = translate::<S>(sm, 0, start, size * LANES as u64, size, true) {
                    // SAFETY: `translate` checked the elements of all lanes.
                    unsafe { store_lanes::<M, N, LANES>(host.cast(), rows, 0) };
                    S::count(sm, true, 1, sm.mask.count_ones().into());
                    return true;
                }
            }
            LanePattern::Quarters(quarters)
                if quarters.iter().all(|quarter| quarter.contiguous) =>
            {
                let bytes = size * LANES_PER_QUARTER as u64;
                let hosts = quarters.map(|Quarter { start, .. }| {
                    translate::<S>(sm, 0, start, bytes, size, true)
                        .map_or(std::ptr::null_mut(), |at| at)
                });
                if hosts.iter().all(|host| !host.is_null()) {
                    for (quarter, host) in hosts.into_iter().enumerate() {
                        let first = quarter * LANES_PER_QUARTER;
                        // SAFETY: `translate` checked the elements of the quarter's eight lanes.
                        unsafe { store_lanes::<M, N, LANES_PER_QUARTER>(host.cast(), rows, first) };
                    }
                    S::count(sm, true, 1, sm.mask.count_ones().into());
                    return true;
                }
            }
            _ => {}
        }
    }
    // SAFETY: `run_store_scalar` has no requirements.
    unsafe { run_store_scalar::<S, M, N>(sm, inst, (addresses, rows)) }
}

/// Runs [`run_store`] without pattern detection.
///
/// # Safety
/// None, as for [`run_store`].
#[inline(never)]
pub unsafe fn run_store_scalar<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    (addresses, rows): StoreOperands<M::Row, N>,
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let host = match translate::<S>(sm, lane, address, size, size, true) {
            Ok(host) => host.cast::<M>(),
            Err(kind) => return record_fault(sm, inst, lane, kind),
        };
        for (part, row) in rows.into_iter().enumerate() {
            // SAFETY: `translate` checked `size` bytes.
            unsafe { host.add(part).write_unaligned(M::narrow(row[lane])) };
        }
    }
    S::count(sm, true, 1, sm.mask.count_ones().into());
    true
}
