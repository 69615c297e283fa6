//! Memory operations with ordering: `volatile`, `relaxed`, `acquire` and `release` loads and stores, and
//! fences.
//!
//! Blocks run on different host threads. An ordered access to device memory is therefore one host atomic
//! per lane, so that the order a kernel establishes also holds on the host. All other accesses
//! are plain. Lanes are processed in order. Source: PTX ISA sections 8.3 (ordering), 9.7.9 (`ld`, `st`) and
//! 9.7.13 (`membar`, `fence`).

use super::access::{Element, translate_lane};
use super::state_space::SpaceAccess;
use crate::exec::schedule::LOAD_SPIN_LIMIT;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::lanes::{LANES, active};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence as host_fence};

/// Loads a vector with acquire ordering. Like a GPU, it reads an aligned vector of up to 16 bytes at once: no vector
/// contains parts of two stores.
///
/// # Safety
/// `host` must be valid for reads of `N` elements.
#[inline(always)]
unsafe fn load_vector<M: Element, const N: usize>(host: *mut [M; N]) -> [M; N] {
    // SAFETY: the caller guarantees that `host` is valid; each type has the size of the vector, and the alignment is
    // checked.
    unsafe {
        match size_of::<[M; N]>() {
            1 => copy_as(&AtomicU8::from_ptr(host.cast()).load(Ordering::Acquire)),
            2 if host.cast::<u16>().is_aligned() => {
                copy_as(&AtomicU16::from_ptr(host.cast()).load(Ordering::Acquire))
            }
            4 if host.cast::<u32>().is_aligned() => {
                copy_as(&AtomicU32::from_ptr(host.cast()).load(Ordering::Acquire))
            }
            8 if host.cast::<u64>().is_aligned() => {
                copy_as(&AtomicU64::from_ptr(host.cast()).load(Ordering::Acquire))
            }
            16 if host.cast::<Bytes16>().is_aligned() => {
                let value = host.cast::<Bytes16>().read_volatile();
                host_fence(Ordering::Acquire);
                copy_as(&value)
            }
            _ => host.read_unaligned(),
        }
    }
}

/// Stores a vector with release ordering, at once as [`load_vector`] loads it.
///
/// # Safety
/// `host` must be valid for writes of `N` elements.
#[inline(always)]
unsafe fn store_vector<M: Element, const N: usize>(host: *mut [M; N], values: [M; N]) {
    // SAFETY: as in `load_vector`.
    unsafe {
        match size_of::<[M; N]>() {
            1 => AtomicU8::from_ptr(host.cast()).store(copy_as(&values), Ordering::Release),
            2 if host.cast::<u16>().is_aligned() => {
                AtomicU16::from_ptr(host.cast()).store(copy_as(&values), Ordering::Release);
            }
            4 if host.cast::<u32>().is_aligned() => {
                AtomicU32::from_ptr(host.cast()).store(copy_as(&values), Ordering::Release);
            }
            8 if host.cast::<u64>().is_aligned() => {
                AtomicU64::from_ptr(host.cast()).store(copy_as(&values), Ordering::Release);
            }
            16 if host.cast::<Bytes16>().is_aligned() => {
                host_fence(Ordering::Release);
                host.cast::<Bytes16>().write_volatile(copy_as(&values));
            }
            _ => host.write_unaligned(values),
        }
    }
}

/// The type of 16 bytes that the processor loads and stores with one instruction. Processors with AVX, and those of Arm
/// with LSE2, do so atomically if the address is aligned.
#[cfg(target_arch = "x86_64")]
type Bytes16 = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Bytes16 = u128;

/// Reinterprets the bytes of a value.
///
/// # Safety
/// `To` must have the size of `From`, and all of its bit patterns must be valid.
#[inline(always)]
unsafe fn copy_as<From, To>(value: &From) -> To {
    // SAFETY: the caller guarantees the size and the validity.
    unsafe { std::mem::transmute_copy(value) }
}

/// Returns the handler of an ordered load of `N` elements. Operands: destinations, address row; `imm` is
/// added to the address.
pub fn load<S: SpaceAccess + 'static, M: Element, const N: usize>() -> Handler {
    unsafe fn run<S: SpaceAccess, M: Element, const N: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        let size = (size_of::<M>() * N) as u64;
        // SAFETY: operand `N`, after the destinations, is a 64-bit row.
        let addresses = unsafe { sm.row::<u64>(inst, N) };
        let mut values = [[M::Row::default(); LANES]; N];
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let Some(host) = translate_lane::<S>(sm, inst, lane, address, size, false) else {
                return std::ptr::null();
            };
            let host = host.cast::<[M; N]>();
            // SAFETY: `translate_lane` checked `size` bytes.
            let loaded = unsafe { load_vector::<M, N>(host) };
            for (row, value) in values.iter_mut().zip(loaded) {
                row[lane] = value.widen();
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
pub fn store<S: SpaceAccess + 'static, M: Element, const N: usize>() -> Handler {
    unsafe fn run<S: SpaceAccess, M: Element, const N: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        let size = (size_of::<M>() * N) as u64;
        // SAFETY: operand 0 is a 64-bit row.
        let addresses = unsafe { sm.row::<u64>(inst, 0) };
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let Some(host) = translate_lane::<S>(sm, inst, lane, address, size, true) else {
                return std::ptr::null();
            };
            let host = host.cast::<[M; N]>();
            // SAFETY: `translate_lane` checked `size` bytes; the values are rows.
            unsafe {
                let value = |part| M::narrow(sm.row::<M::Row>(inst, 1 + part)[lane]);
                store_vector::<M, N>(host, std::array::from_fn(value));
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
