//! Loads and stores that other threads may look on at: `volatile`, `relaxed`, `acquire`, `release`;
//! and fences.
//!
//! Blocks run on host threads of their own, and to these an ordered access of device memory is an
//! atomic one, each element by itself: what a kernel puts in order is in order here. All other
//! accesses are plain. Lanes take their turns in order.
//! Source: PTX ISA sections 8.3 (ordering), 9.7.9 (`ld`, `st`) and 9.7.13 (`membar`, `fence`).

use super::access::{Element, translate};
use super::sm::{Handler, Inst, Next, Sm};
use super::spin::LOAD_SPIN_LIMIT;
use super::state_space::SpaceAccess;
use crate::lanes::{LANES, active};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence as host_fence,
};

/// An element that the host moves in one piece.
pub trait HostAtomic: Element {
    /// The value at `place`.
    ///
    /// # Safety
    /// It is valid for reads.
    unsafe fn load(place: *mut Self) -> Self;

    /// Puts `value` at `place`.
    ///
    /// # Safety
    /// It is valid for writes.
    unsafe fn store(place: *mut Self, value: Self);
}

macro_rules! atomic {
    ($($element:ty => $host:ty),*) => {$(
        impl HostAtomic for $element {
            #[inline(always)]
            unsafe fn load(place: *mut Self) -> Self {
                if !place.is_aligned() {
                    // SAFETY: the caller's promise.
                    return unsafe { place.read_unaligned() };
                }
                // SAFETY: aligned, and valid by the caller's promise.
                unsafe { <$host>::from_ptr(place) }.load(Ordering::Acquire)
            }

            #[inline(always)]
            unsafe fn store(place: *mut Self, value: Self) {
                if !place.is_aligned() {
                    // SAFETY: the caller's promise.
                    return unsafe { place.write_unaligned(value) };
                }
                // SAFETY: aligned, and valid by the caller's promise.
                unsafe { <$host>::from_ptr(place) }.store(value, Ordering::Release);
            }
        }
    )*};
}
// Addresses are aligned, and so are allocations. Only a thread's own local memory may lie askew.
atomic!(
    u8 => AtomicU8, i8 => AtomicI8, u16 => AtomicU16, i16 => AtomicI16, u32 => AtomicU32,
    u64 => AtomicU64
);

/// A load of `N` elements: destinations, then the address row; `imm` is added to it.
pub fn load<S: SpaceAccess + 'static, M: HostAtomic, const N: usize>() -> Handler {
    unsafe fn run<S: SpaceAccess, M: HostAtomic, const N: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        let size = (size_of::<M>() * N) as u64;
        // SAFETY: the operand after the destinations is a 64-bit row.
        let addresses = unsafe { sm.row::<u64>(inst, N) };
        let mut values = [[M::Row::default(); LANES]; N];
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let host = match translate::<S>(sm, lane, address, size, size, false) {
                Ok(host) => host.cast::<M>(),
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            for (part, row) in values.iter_mut().enumerate() {
                // SAFETY: `translate` checked `size` bytes.
                row[lane] = unsafe { M::load(host.add(part)) }.widen();
            }
        }
        let lane = sm.mask.trailing_zeros() as usize % LANES;
        let (address, value) = (addresses[lane].wrapping_add(inst.imm), values[0][lane]);
        sm.record_probe(inst, address, value.into(), LOAD_SPIN_LIMIT);
        for (part, row) in values.into_iter().enumerate() {
            // SAFETY: the destinations are rows.
            unsafe { sm.write(inst, part, row) };
        }
        S::count(sm, false, 1, sm.mask.count_ones().into());
        inst.next()
    }
    run::<S, M, N>
}

/// A store of `N` elements: the address row, then the values; `imm` is added to the address. Where
/// lanes write to one address the highest lane's value stays.
pub fn store<S: SpaceAccess + 'static, M: HostAtomic, const N: usize>() -> Handler {
    unsafe fn run<S: SpaceAccess, M: HostAtomic, const N: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        let size = (size_of::<M>() * N) as u64;
        // SAFETY: operand 0 is a 64-bit row.
        let addresses = unsafe { sm.row::<u64>(inst, 0) };
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let host = match translate::<S>(sm, lane, address, size, size, true) {
                Ok(host) => host.cast::<M>(),
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            for part in 0..N {
                // SAFETY: `translate` checked `size` bytes; the values are rows.
                unsafe {
                    let value = sm.row::<M::Row>(inst, 1 + part)[lane];
                    M::store(host.add(part), M::narrow(value));
                }
            }
        }
        S::count(sm, true, 1, sm.mask.count_ones().into());
        inst.next()
    }
    run::<S, M, N>
}

/// `membar`, `fence`: what is before it is seen before what is after it. For one warp or for many:
/// the host's thread is the same.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn fence(_: &mut Sm, inst: &Inst) -> Next {
    host_fence(Ordering::SeqCst);
    inst.next()
}
