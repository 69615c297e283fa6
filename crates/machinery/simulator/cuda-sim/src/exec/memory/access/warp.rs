//! Loads and stores by one warp.

use super::{Element, LanePattern, load_lanes, pattern, store_lanes, translate, translate_lane};
use crate::exec::lanewise::View;
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::sm::{Inst, Sm};
use crate::lanes::{FULL, LANES, LANES_PER_QUARTER, Quarter, active};

/// Returns the address row of a load of `N` elements, which follows the destinations.
///
/// # Safety
/// Operand `N` must be a 64-bit row.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "as `store_operands`")]
pub unsafe fn load_operands<'a, M, const N: usize>(
    view: impl View,
    sm: &Sm,
    inst: &Inst,
) -> &'a [u64; LANES] {
    // SAFETY: the caller guarantees that operand `N` is a 64-bit row.
    unsafe { view.row::<u64>(sm, inst, N) }
}

/// Loads `N` elements per lane from `addresses` plus `imm`. Returns false on a fault.
///
/// # Safety
/// The first `N` operands must be rows of `M::Row`.
#[inline(always)]
pub unsafe fn run_load<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    let first = sm.mask.trailing_zeros() as usize & 31;
    match pattern(sm, addresses, inst.imm, size) {
        LanePattern::Uniform(address) => {
            let Some(host) = translate_lane::<S>(sm, inst, first, address, size, false) else {
                return false;
            };
            let host = host.cast::<M>();
            for part in 0..N {
                // SAFETY: `translate_lane` checked `size` bytes; the destinations are rows.
                unsafe {
                    let value = host.add(part).read_unaligned().widen();
                    sm.write(inst, part, [value; LANES]);
                }
            }
        }
        LanePattern::Consecutive(origin) => {
            let last = 31 - sm.mask.leading_zeros() as usize;
            let start = origin.wrapping_add(first as u64 * size);
            let bytes = (last - first + 1) as u64 * size;
            let host = match translate::<S>(sm, first, start, bytes, size, false) {
                Ok(host) => host.cast::<M>(),
                // Some lane faults; the scalar loop finds out which.
                // SAFETY: the destinations are rows.
                Err(_) => return unsafe { load_each_lane::<S, M, N>(sm, inst, addresses) },
            };
            if sm.mask == FULL {
                // SAFETY: `translate` checked the elements of all lanes; the destinations are rows.
                unsafe {
                    for (part, row) in load_lanes::<M, N, LANES>(host).into_iter().enumerate() {
                        sm.write(inst, part, row);
                    }
                }
            } else {
                for part in 0..N {
                    let mut values = [M::Row::default(); LANES];
                    // SAFETY: `translate` checked lanes `first` to `last`; the destination is a row.
                    unsafe {
                        for lane in first..=last {
                            let element = host.add((lane - first) * N + part);
                            values[lane] = element.read_unaligned().widen();
                        }
                        sm.write(inst, part, values);
                    }
                }
            }
        }
        LanePattern::Quarters(quarters) => {
            let mut values = [[M::Row::default(); LANES]; N];
            for (quarter, Quarter { start, contiguous }) in quarters.into_iter().enumerate() {
                let bytes = if contiguous { size * 8 } else { size };
                let host = match translate::<S>(sm, 0, start, bytes, size, false) {
                    Ok(host) => host.cast::<M>(),
                    // Some lane faults; the scalar loop finds out which.
                    // SAFETY: the destinations are rows.
                    Err(_) => return unsafe { load_each_lane::<S, M, N>(sm, inst, addresses) },
                };
                for (part, row) in values.iter_mut().enumerate() {
                    let row = &mut row[quarter * LANES_PER_QUARTER..][..LANES_PER_QUARTER];
                    // SAFETY: `translate` checked the elements of one lane, or of all eight lanes of a
                    // contiguous quarter.
                    unsafe {
                        if contiguous {
                            for (lane, value) in row.iter_mut().enumerate() {
                                *value = host.add(lane * N + part).read_unaligned().widen();
                            }
                        } else {
                            row.fill(host.add(part).read_unaligned().widen());
                        }
                    }
                }
            }
            for (part, row) in values.into_iter().enumerate() {
                // SAFETY: the destinations are rows.
                unsafe { sm.write(inst, part, row) };
            }
        }
        LanePattern::Scattered => {
            // SAFETY: the destinations are rows.
            if !unsafe { load_from_one_region::<S, M, N>(sm, inst, addresses) } {
                // SAFETY: the destinations are rows.
                return unsafe { load_each_lane::<S, M, N>(sm, inst, addresses) };
            }
        }
    }
    S::count(sm, false, 1, sm.mask.count_ones().into());
    true
}

/// Loads for a full warp whose addresses are aligned and lie in one allocation. Otherwise loads nothing and
/// returns false.
///
/// # Safety
/// The first `N` operands must be rows of `M::Row`.
#[inline(always)]
unsafe fn load_from_one_region<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    if sm.mask != FULL {
        return false;
    }
    let size = (size_of::<M>() * N) as u64;
    let (mut lowest, mut highest, mut bits) = (u64::MAX, 0, 0);
    for address in addresses {
        let address = address.wrapping_add(inst.imm);
        lowest = address.min(lowest);
        highest = address.max(highest);
        bits |= address;
    }
    let bytes = (highest - lowest).saturating_add(size);
    if bits & (size - 1) != 0 {
        return false;
    }
    let host = S::host(sm, 0, lowest, bytes);
    if host.is_null() {
        return false;
    }
    let mut values = [[M::Row::default(); LANES]; N];
    for (lane, address) in addresses.iter().enumerate() {
        let address = address.wrapping_add(inst.imm);
        S::touch(sm, lowest, address, size, false);
        let host = host.wrapping_add((address - lowest) as usize).cast::<M>();
        for (part, row) in values.iter_mut().enumerate() {
            // SAFETY: `S::host` checked all bytes from the lowest address to the end of the highest access.
            row[lane] = unsafe { host.add(part).read_unaligned() }.widen();
        }
    }
    for (part, row) in values.into_iter().enumerate() {
        // SAFETY: the caller guarantees that the destinations are rows.
        unsafe { sm.write(inst, part, row) };
    }
    true
}

/// Loads lane by lane, for any addresses. Returns false on a fault.
///
/// # Safety
/// The first `N` operands must be rows of `M::Row`.
#[inline(never)]
unsafe fn load_each_lane<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    let mut values = [[M::Row::default(); LANES]; N];
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let Some(host) = translate_lane::<S>(sm, inst, lane, address, size, false) else {
            return false;
        };
        let host = host.cast::<M>();
        for (part, row) in values.iter_mut().enumerate() {
            // SAFETY: `translate_lane` checked `size` bytes.
            row[lane] = unsafe { host.add(part).read_unaligned() }.widen();
        }
    }
    for (part, row) in values.into_iter().enumerate() {
        // SAFETY: the destinations are rows.
        unsafe { sm.write(inst, part, row) };
    }
    S::count(sm, false, 1, sm.mask.count_ones().into());
    true
}

/// Runs [`run_load`] without pattern detection: quick to compile, and sufficient for local memory.
///
/// # Safety
/// The requirements of [`run_load`].
pub unsafe fn run_load_scalar<S: SpaceAccess, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    if S::UNIFORM_ADDRESSES && sm.mask != FULL {
        touch_inactive_lanes::<S>(sm, inst, addresses, (size_of::<M>() * N) as u64);
    }
    // SAFETY: the caller guarantees that the destinations are rows.
    unsafe { load_each_lane::<S, M, N>(sm, inst, addresses) }
}

/// Marks the same memory as touched that [`run_load`] marks for a partially active contiguous access:
/// everything from the first to the last active lane.
#[inline(never)]
fn touch_inactive_lanes<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
    size: u64,
) {
    if let LanePattern::Consecutive(origin) = pattern(sm, addresses, inst.imm, size) {
        let first = sm.mask.trailing_zeros() as usize & 31;
        let start = origin.wrapping_add(first as u64 * size);
        let lanes = 32 - sm.mask.leading_zeros() as usize - first;
        // If some lanes fault, `load_each_lane` reports the first of them.
        let _ = translate::<S>(sm, first, start, lanes as u64 * size, size, false);
    }
}

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
        let Some(host) = translate_lane::<S>(sm, inst, lane, address, size, true) else {
            return false;
        };
        let host = host.cast::<M>();
        for (part, row) in rows.into_iter().enumerate() {
            // SAFETY: `translate_lane` checked `size` bytes.
            unsafe { host.add(part).write_unaligned(M::narrow(row[lane])) };
        }
    }
    S::count(sm, true, 1, sm.mask.count_ones().into());
    true
}
