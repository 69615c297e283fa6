//! State spaces: the translation of addresses to memory, and addresses as values: addresses of variables (`mov`),
//! `cvta`, `isspacep`, `mapa`, `getctarank`.
//!
//! Source: PTX ISA section 5.1. Bounds are always checked.

use crate::check::AddressedMemory;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1_imm, same, test1, where_true};
use crate::exec::sm::cluster::{mapped_address, rank_and_offset};
use crate::exec::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// A state space, used as the type parameter of loads and stores.
pub trait SpaceAccess {
    /// The memory, for faults.
    const MEMORY: AddressedMemory;
    /// True if every lane sees the same bytes at the same address.
    const UNIFORM_ADDRESSES: bool;

    /// Returns true if kernels may write at `address`.
    #[inline(always)]
    fn writable(_sm: &Sm, _address: u64) -> bool {
        true
    }

    /// Returns true if `address` is in device memory, whose atomics round and treat NaNs differently.
    #[inline(always)]
    fn in_device(_address: u64) -> bool {
        false
    }

    /// Returns the host address of `bytes` bytes at `address`, or null unless all of them are valid.
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8;

    /// Returns the host address of `bytes` bytes at `address` that are past the end of an allocation or array but in the
    /// memory that a GPU gives to it, where it detects no access; null for others, and if faults are exact.
    fn host_past_end(_sm: &mut Sm, _lane: usize, _address: u64, _bytes: u64) -> *mut u8 {
        std::ptr::null_mut()
    }

    /// Marks bytes as read or written. They must be among those that [`SpaceAccess::host`] last found at
    /// `base`.
    #[inline(always)]
    fn touch(_sm: &Sm, _found: u64, _address: u64, _bytes: u64, _write: bool) {}

    /// Counts a load or store by `warps` warps with `threads` threads in total.
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
    const MEMORY: AddressedMemory = AddressedMemory::Device;
    const UNIFORM_ADDRESSES: bool = true;

    #[inline(always)]
    fn writable(sm: &Sm, address: u64) -> bool {
        // Constant memory is part of device memory, but only the host may write it.
        !sm.memory.constants.contains(address)
    }

    #[inline(always)]
    fn in_device(_: u64) -> bool {
        true
    }

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let slot = Sm::recent_slot(address);
        let host = sm.memory.recent[slot].host(address, bytes);
        if !host.is_null() {
            return host;
        }
        let region = sm.memory.regions.find(address);
        if region.bytes > 0 {
            sm.memory.recent[slot] = region;
        }
        region.host(address, bytes)
    }

    fn host_past_end(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        if !sm.grid.has_hardware_faults {
            return std::ptr::null_mut();
        }
        let region = sm.memory.regions.find_by_granule(address, bytes);
        if region.bytes == 0 || region.base == sm.memory.constants.base {
            return std::ptr::null_mut();
        }
        region.host.wrapping_add((address - region.base) as usize)
    }

    #[inline(always)]
    fn touch(sm: &Sm, base: u64, address: u64, bytes: u64, write: bool) {
        // SAFETY: `host` found the bytes in this region, whose allocation table lives as long as the launch.
        unsafe {
            sm.memory.recent[Sm::recent_slot(base)].touch(address, bytes, write, sm.memory.epoch)
        }
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
    const MEMORY: AddressedMemory = AddressedMemory::Constant;
    const UNIFORM_ADDRESSES: bool = true;

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        sm.memory.constants.host(address, bytes)
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for SharedSpace {
    const MEMORY: AddressedMemory = AddressedMemory::Shared;
    const UNIFORM_ADDRESSES: bool = true;

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
            sm.block.cluster_host(address, bytes)
        }
    }

    fn host_past_end(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let granules = size_of_val(&*sm.block.shared) as u64;
        match address.checked_add(bytes) {
            Some(end) if end <= granules && sm.grid.has_hardware_faults => {
                (sm.block.shared.as_mut_ptr().cast::<u8>()).wrapping_add(address as usize)
            }
            _ => std::ptr::null_mut(),
        }
    }

    #[inline(always)]
    fn count(sm: &mut Sm, write: bool, warps: u64, _: u64) {
        sm.counts.reads += if write { 0 } else { warps };
    }
}

impl Sm {
    /// Returns true if `bytes` bytes at `address` are variables of the running function or of one that has called it.
    #[inline(always)]
    pub fn is_local_variable(&self, address: u64, bytes: u64) -> bool {
        let (start, end) = (u64::from(self.local.start), u64::from(self.local.end));
        let is_own = start <= address && address < end && end - address >= bytes;
        is_own || self.block.warp().is_callers_variable(address, bytes)
    }
}

/// Returns the host address of `bytes` bytes at `address` of a lane's stack, or null unless all of them are inside.
#[inline(always)]
fn stack_host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
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

impl SpaceAccess for LocalSpace {
    const MEMORY: AddressedMemory = AddressedMemory::Local;
    const UNIFORM_ADDRESSES: bool = false;

    #[inline(always)]
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        if sm.is_local_variable(address, bytes) {
            stack_host(sm, lane, address, bytes)
        } else {
            std::ptr::null_mut()
        }
    }

    fn host_past_end(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        match sm.grid.has_hardware_faults {
            true => stack_host(sm, lane, address, bytes),
            false => std::ptr::null_mut(),
        }
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for ArgumentSpace {
    const MEMORY: AddressedMemory = AddressedMemory::Local;
    const UNIFORM_ADDRESSES: bool = false;

    #[inline(always)]
    fn host(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        stack_host(sm, lane, address, bytes)
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for ParamSpace {
    const MEMORY: AddressedMemory = AddressedMemory::Parameters;
    const UNIFORM_ADDRESSES: bool = true;

    #[inline(always)]
    fn host(sm: &mut Sm, _: usize, address: u64, bytes: u64) -> *mut u8 {
        let params = &sm.grid.params;
        let size = params.len() as u64;
        if address < size && size - address >= bytes {
            // The space has only loads, so the pointer is never written through.
            params.as_ptr().wrapping_add(address as usize).cast_mut()
        } else {
            std::ptr::null_mut()
        }
    }

    #[inline(always)]
    fn count(_: &mut Sm, _: bool, _: u64, _: u64) {}
}

impl SpaceAccess for GenericSpace {
    const MEMORY: AddressedMemory = AddressedMemory::Generic;
    const UNIFORM_ADDRESSES: bool = false;

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

    fn host_past_end(sm: &mut Sm, lane: usize, address: u64, bytes: u64) -> *mut u8 {
        match address {
            a if in_window(a, SHARED_WINDOW) => {
                SharedSpace::host_past_end(sm, lane, a - SHARED_WINDOW, bytes)
            }
            a if in_window(a, LOCAL_WINDOW) => {
                LocalSpace::host_past_end(sm, lane, a - LOCAL_WINDOW, bytes)
            }
            _ => GlobalSpace::host_past_end(sm, lane, address, bytes),
        }
    }

    #[inline(always)]
    fn touch(sm: &Sm, base: u64, address: u64, bytes: u64, write: bool) {
        let windows = [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW];
        if !windows.iter().any(|&window| in_window(address, window)) {
            GlobalSpace::touch(sm, base, address, bytes, write);
        }
    }

    #[inline(always)]
    fn count(sm: &mut Sm, write: bool, warps: u64, threads: u64) {
        // Most generic accesses reach device memory; all are counted as such.
        GlobalSpace::count(sm, write, warps, threads);
    }
}

/// `d = a + imm`, 64 bits. Operands: d, a.
pub fn add_imm(cpu: Cpu) -> Handlers {
    map1_imm(cpu, |a: u64, imm| a.wrapping_add(imm))
}

/// `d = ` start of dynamic shared memory, plus `imm`. Operand: d.
pub fn dynamic_shared(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.grid.shared_bytes - sm.grid.dynamic_shared) + inst.imm
    })
}

/// Computes the address `imm` bytes into this function's local memory, into operand 0.
pub fn local_address(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.local.start) + inst.imm
    })
}

/// `p = ` generic address a is in device memory. Operands: p, a.
pub fn is_global(cpu: Cpu) -> Handlers {
    test1(cpu, |a: u64| a < SHARED_WINDOW)
}

/// Tests whether a generic address is in constant memory. Operands: p, a.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`].
pub unsafe fn is_constant(sm: &mut Sm, inst: &Inst) -> Next {
    let bank = sm.memory.constants;
    // SAFETY: operand 0 is a predicate, operand 1 a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        let inside = |lane: usize| bank.contains(a[lane]);
        sm.set_predicate(inst, 0, where_true(0..LANES, inside));
    }
    inst.next()
}

/// Tests whether generic addresses are in the shared memory of the own block. Operands: p, a.
///
/// # Safety
/// As for [`is_constant`].
pub unsafe fn is_own_shared(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate, operand 1 is a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        let inside = |lane: usize| {
            in_window(a[lane], SHARED_WINDOW) && sm.block.is_own_shared(a[lane] - SHARED_WINDOW)
        };
        sm.set_predicate(inst, 0, where_true(0..LANES, inside));
    }
    inst.next()
}

/// Runs `mapa`. Operands: d, a, both 64-bit rows, and the rank, a 32-bit row. `imm` is the start of the window of the
/// addresses.
///
/// # Safety
/// As for [`is_constant`].
pub unsafe fn map_cluster_address(sm: &mut Sm, inst: &Inst) -> Next {
    let mut mapped = [0; LANES];
    // SAFETY: operands 0 and 1 are 64-bit rows, operand 2 is a 32-bit row.
    unsafe {
        let (addresses, ranks) = (sm.row::<u64>(inst, 1), sm.row::<u32>(inst, 2));
        for lane in active(sm.mask) {
            let offset = addresses[lane].wrapping_sub(inst.imm);
            mapped[lane] = mapped_address(offset, ranks[lane] & 0xff).wrapping_add(inst.imm);
        }
        sm.write(inst, 0, mapped);
    }
    inst.next()
}

/// Runs `getctarank`. Operands: d, a 32-bit row, and a, a 64-bit row. `imm` is the start of the window of the addresses.
///
/// # Safety
/// As for [`is_constant`].
pub unsafe fn cluster_rank(sm: &mut Sm, inst: &Inst) -> Next {
    let own = sm.block.cluster_rank;
    // SAFETY: operand 1 is a 64-bit row, operand 0 is a 32-bit row.
    unsafe {
        let ranks = sm.row::<u64>(inst, 1).map(|address| {
            let (rank, _) = rank_and_offset(address.wrapping_sub(inst.imm));
            rank.map_or(own, |rank| rank as u32)
        });
        sm.write(inst, 0, ranks);
    }
    inst.next()
}
