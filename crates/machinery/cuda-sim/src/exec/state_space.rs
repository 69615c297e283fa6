//! State spaces: from an address a thread uses to the bytes it means.
//!
//! Source: PTX ISA section 5.1. Bounds are always checked.

use super::sm::Sm;
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// A state space, as the type parameter of a load or store.
pub trait SpaceAccess {
    const NAME: &'static str;
    /// Every lane sees the same bytes at the same address.
    const COMMON: bool;

    /// Whether what lies at `address` may be written.
    #[inline(always)]
    fn writable(_sm: &Sm, _address: u64) -> bool {
        true
    }

    /// Whether `address` leads to device memory, whose atomics are its own affair.
    #[inline(always)]
    fn in_device(_address: u64) -> bool {
        false
    }

    /// The host's address of `bytes` bytes at `address`, or null unless all are inside.
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8;

    /// Marks bytes as read or written: some of those that [`SpaceAccess::host`] just found at `found`.
    #[inline(always)]
    fn touch(_sm: &Sm, _found: u64, _address: u64, _bytes: u64, _write: bool) {}

    /// Counts the load or store of so many warps, with so many threads in all.
    fn count(sm: &mut Sm, write: bool, warps: u64, threads: u64);
}

pub struct GlobalSpace;
pub struct ConstantSpace;
pub struct SharedSpace;
pub struct LocalSpace;
/// Arguments and results of calls: local memory here, registers on a GPU.
pub struct ArgumentSpace;
pub struct ParamSpace;
pub struct GenericSpace;

impl SpaceAccess for GlobalSpace {
    const NAME: &'static str = "device memory";
    const COMMON: bool = true;

    #[inline(always)]
    fn writable(sm: &Sm, address: u64) -> bool {
        // Constants lie in device memory, and only the host may write them.
        !sm.constants.holds(address)
    }

    #[inline(always)]
    fn in_device(_: u64) -> bool {
        true
    }

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let slot = Sm::recent_slot(address);
        let host = sm.recent[slot].host(address, bytes);
        if !host.is_null() {
            return host;
        }
        let region = sm.regions.find(address);
        if region.bytes > 0 {
            sm.recent[slot] = region;
        }
        region.host(address, bytes)
    }

    #[inline(always)]
    fn touch(sm: &Sm, found: u64, address: u64, bytes: u64, write: bool) {
        // SAFETY: `host` found the bytes in this region, and the launch keeps the table.
        unsafe { sm.recent[Sm::recent_slot(found)].touch(address, bytes, write, sm.epoch) }
    }

    #[inline(always)]
    fn count(sm: &mut Sm, write: bool, warps: u64, threads: u64) {
        if write {
            sm.counts.global_stores += threads;
        } else {
            sm.counts.global_loads += threads;
            sm.counts.reads += warps;
        }
    }
}

impl SpaceAccess for ConstantSpace {
    const NAME: &'static str = "constant memory";
    const COMMON: bool = true;

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        sm.constants.host(address, bytes)
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for SharedSpace {
    const NAME: &'static str = "shared memory";
    const COMMON: bool = true;

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let size = u64::from(sm.block.shared_bytes);
        if address < size && size - address >= bytes {
            sm.block
                .shared
                .as_mut_ptr()
                .cast::<u8>()
                .wrapping_add(address as usize)
        } else {
            std::ptr::null_mut()
        }
    }

    #[inline(always)]
    fn count(sm: &mut Sm, write: bool, warps: u64, _: u64) {
        sm.counts.reads += if write { 0 } else { warps };
    }
}

impl SpaceAccess for LocalSpace {
    const NAME: &'static str = "local memory";
    const COMMON: bool = false;

    #[inline(always)]
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        let size = u64::from(sm.locals.bytes);
        if address < size
            && size - address >= bytes
            && let Some(local) = sm.block.warp_mut().local.as_mut()
        {
            return local
                .as_mut_ptr()
                .wrapping_add(lane * size as usize + address as usize);
        }
        std::ptr::null_mut()
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for ArgumentSpace {
    const NAME: &'static str = "local memory";
    const COMMON: bool = false;

    #[inline(always)]
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        LocalSpace::host(sm, lane, address, bytes)
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for ParamSpace {
    const NAME: &'static str = "kernel parameters";
    const COMMON: bool = true;

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let params = &sm.grid.params;
        let size = params.len() as u64;
        if address < size && size - address >= bytes {
            // Only loads exist in this space, so the bytes are not written through this.
            params.as_ptr().wrapping_add(address as usize).cast_mut()
        } else {
            std::ptr::null_mut()
        }
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for GenericSpace {
    const NAME: &'static str = "memory";
    const COMMON: bool = false;

    #[inline(always)]
    fn writable(sm: &Sm, address: u64) -> bool {
        !in_window(address, PARAM_WINDOW) && GlobalSpace::writable(sm, address)
    }

    #[inline(always)]
    fn in_device(address: u64) -> bool {
        !in_window(address, SHARED_WINDOW)
    }

    #[inline(always)]
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        match address {
            a if in_window(a, SHARED_WINDOW) => {
                SharedSpace::host(sm, lane, a - SHARED_WINDOW, bytes)
            }
            a if in_window(a, LOCAL_WINDOW) => LocalSpace::host(sm, lane, a - LOCAL_WINDOW, bytes),
            a if in_window(a, PARAM_WINDOW) => ParamSpace::host(sm, lane, a - PARAM_WINDOW, bytes),
            _ => GlobalSpace::host(sm, lane, address, bytes),
        }
    }

    #[inline(always)]
    fn touch(sm: &Sm, found: u64, address: u64, bytes: u64, write: bool) {
        let windows = [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW];
        if !windows.iter().any(|&window| in_window(address, window)) {
            GlobalSpace::touch(sm, found, address, bytes, write);
        }
    }

    #[inline(always)]
    fn count(sm: &mut Sm, write: bool, warps: u64, threads: u64) {
        // Most generic accesses reach device memory; the others are counted with them.
        GlobalSpace::count(sm, write, warps, threads);
    }
}
