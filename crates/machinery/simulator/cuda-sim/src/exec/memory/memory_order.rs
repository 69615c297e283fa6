//! Memory operations with ordering: `volatile`, `relaxed`, `acquire` and `release` loads and stores, and
//! fences.
//!
//! Blocks run on different host threads. An ordered access to device memory is therefore one host atomic
//! per element, so that the order a kernel establishes also holds on the host. All other accesses
//! are plain. Lanes are processed in order. Source: PTX ISA sections 8.3 (ordering), 9.7.9 (`ld`, `st`) and
//! 9.7.13 (`membar`, `fence`).

use super::access::{Element, translate};
use super::state_space::SpaceAccess;
use crate::exec::schedule::LOAD_SPIN_LIMIT;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::lanes::{LANES, active};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence as host_fence,
};

/// An element that the host can load and store atomically.
pub trait HostAtomic: Element {
    /// Loads the value at `host` with acquire ordering.
    ///
    /// # Safety
    /// `host` must be valid for reads.
    unsafe fn load(host: *mut Self) -> Self;

    /// Stores `value` at `host` with release ordering.
    ///
    /// # Safety
    /// `host` must be valid for writes.
    unsafe fn store(host: *mut Self, value: Self);
}

macro_rules! atomic {
    ($($element:ty => $host:ty),*) => {$(
        impl HostAtomic for $element {
            #[inline(always)]
            unsafe fn load(host: *mut Self) -> Self {
                if !host.is_aligned() {
                    // SAFETY: the caller guarantees that `host` is valid for reads.
                    return unsafe { host.read_unaligned() };
                }
                // SAFETY: `host` is aligned, and the caller guarantees that it is valid for reads.
                unsafe { <$host>::from_ptr(host) }.load(Ordering::Acquire)
            }

            #[inline(always)]
            unsafe fn store(host: *mut Self, value: Self) {
                if !host.is_aligned() {
                    // SAFETY: the caller guarantees that `host` is valid for writes.
                    return unsafe { host.write_unaligned(value) };
                }
                // SAFETY: `host` is aligned, and the caller guarantees that it is valid for writes.
                unsafe { <$host>::from_ptr(host) }.store(value, Ordering::Release);
            }
        }
    )*};
}
// Addresses and allocations are aligned. Only a thread's own local memory may be unaligned on the host.
atomic!(
    u8 => AtomicU8, i8 => AtomicI8, u16 => AtomicU16, i16 => AtomicI16, u32 => AtomicU32,
    u64 => AtomicU64
);

/// Returns the handler of an ordered load of `N` elements. Operands: destinations, address row; `imm` is
/// added to the address.
pub fn load<S: SpaceAccess + 'static, M: HostAtomic, const N: usize>() -> Handler {
    unsafe fn run<S: SpaceAccess, M: HostAtomic, const N: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        let size = (size_of::<M>() * N) as u64;
        // SAFETY: operand `N`, after the destinations, is a 64-bit row.
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

/// Returns the handler of an ordered store of `N` elements. Operands: address row, values; `imm` is added to
/// the address. If several lanes write to one address, the highest lane's value remains.
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

/// Runs `membar` and `fence`, for a warp or a gang: a gang's warps run on one host thread.
///
/// # Safety
/// The requirements of [`Handler`].
pub unsafe fn fence(_: &mut Sm, inst: &Inst) -> Next {
    host_fence(Ordering::SeqCst);
    inst.next()
}
