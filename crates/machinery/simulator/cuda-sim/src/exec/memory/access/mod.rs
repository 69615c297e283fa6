//! Loads and stores: handles the 32 addresses of a warp at once.
//!
//! Three access patterns have fast paths because most accesses have one of them: uniform (all lanes at one
//! address: one read, broadcast), contiguous (one block copy), and either of these in each quarter of the warp.
//! Source: PTX ISA section 9.7.9 (data movement).

mod gang;
mod warp;

pub use gang::pattern_key;

use super::state_space::SpaceAccess;
use crate::check::{AddressedMemory, FaultKind};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Lane, WarpView, same};
use crate::exec::sm::{Handler, Handlers, Inst, Next, Sm};
use crate::lanes::{self, Quarter, WarpPattern};
use crate::lanes::{FULL, LANES};
use gang::{run_gang_load, run_gang_store};
use warp::{
    StoreOperands, load_operands, run_load, run_load_scalar, run_store, run_store_scalar,
    store_operands,
};

/// A value in memory, and the row type it is loaded into. Values of 8 and 16 bits are widened to 32.
pub trait Element: Copy + Default + 'static {
    type Row: Lane + Into<u64>;
    fn widen(self) -> Self::Row;
    fn narrow(row: Self::Row) -> Self;
}

macro_rules! element {
    ($($t:ty => $row:ty),*) => {$(
        impl Element for $t {
            type Row = $row;
            #[inline(always)]
            fn widen(self) -> $row {
                self as $row
            }
            #[inline(always)]
            fn narrow(row: $row) -> $t {
                row as $t
            }
        }
    )*};
}
element!(u8 => u32, i8 => u32, u16 => u32, i16 => u32, u32 => u32, u64 => u64);

/// Writes the elements of `L` lanes from `first` on, lane after lane.
///
/// # Safety
/// `host` must be valid for writes of `L * N` elements.
#[inline(always)]
pub unsafe fn store_lanes<M: Element, const N: usize, const L: usize>(
    host: *mut M,
    rows: [&[M::Row; LANES]; N],
    first: usize,
) {
    let mut values = [[M::default(); N]; L];
    for (lane, values) in values.iter_mut().enumerate() {
        *values = rows.map(|row| M::narrow(row[first + lane]));
    }
    // SAFETY: the caller guarantees room for `L` lanes of `N` elements at `host`.
    unsafe { host.cast::<[[M; N]; L]>().write_unaligned(values) };
}

/// Reads the elements of `L` lanes, stored lane after lane. Returns one row for each of the `N` parts.
///
/// # Safety
/// `host` must be valid for reads of `L * N` elements.
#[inline(always)]
pub unsafe fn load_lanes<M: Element, const N: usize, const L: usize>(
    host: *const M,
) -> [[M::Row; L]; N] {
    // SAFETY: the caller guarantees `L` lanes of `N` elements at `host`.
    let values = unsafe { host.cast::<[[M; N]; L]>().read_unaligned() };
    let mut rows = [[M::Row::default(); L]; N];
    for (part, row) in rows.iter_mut().enumerate() {
        for lane in 0..L {
            row[lane] = values[lane][part].widen();
        }
    }
    rows
}

/// The pattern of the active lanes' addresses.
pub enum LanePattern {
    /// All lanes access this address.
    Uniform(u64),
    /// Lane `n` accesses this address plus `n` times the access's size. The address may wrap below zero for
    /// inactive lanes.
    Consecutive(u64),
    /// Each quarter of a full warp is uniform or contiguous.
    Quarters([Quarter; 4]),
    Scattered,
}

#[inline(always)]
pub fn pattern(sm: &Sm, addresses: &[u64; LANES], offset: u64, size: u64) -> LanePattern {
    if sm.mask == FULL {
        return match lanes::quarters(addresses, offset, size) {
            Some(quarters) => match lanes::warp_pattern(&quarters, size) {
                WarpPattern::Uniform => LanePattern::Uniform(quarters[0].start),
                WarpPattern::Contiguous => LanePattern::Consecutive(quarters[0].start),
                WarpPattern::Other => LanePattern::Quarters(quarters),
            },
            None => LanePattern::Scattered,
        };
    }
    let first = sm.mask.trailing_zeros() as usize & 31;
    let start = addresses[first];
    let origin = start.wrapping_sub(first as u64 * size);
    let (mut differ, mut stray) = (0, 0);
    for lane in 0..LANES {
        let keep = sm.lanes[lane] as i32 as i64 as u64;
        differ |= (addresses[lane] ^ start) & keep;
        stray |= (addresses[lane] ^ origin.wrapping_add(lane as u64 * size)) & keep;
    }
    if differ == 0 {
        LanePattern::Uniform(start.wrapping_add(offset))
    } else if stray == 0 {
        LanePattern::Consecutive(origin.wrapping_add(offset))
    } else {
        LanePattern::Scattered
    }
}

/// A fault of an access. Unlike a [`FaultKind`], it owns nothing, so that valid accesses need not drop it.
#[derive(Debug, Clone, Copy)]
pub enum InvalidAccess {
    Misaligned {
        address: u64,
        bytes: u32,
    },
    Illegal {
        address: u64,
        bytes: u32,
        write: bool,
        memory: AddressedMemory,
    },
}

impl From<InvalidAccess> for FaultKind {
    #[cold]
    fn from(access: InvalidAccess) -> FaultKind {
        match access {
            InvalidAccess::Misaligned { address, bytes } => {
                FaultKind::MisalignedAddress { address, bytes }
            }
            InvalidAccess::Illegal {
                address,
                bytes,
                write,
                memory,
            } => FaultKind::IllegalAddress {
                address,
                bytes,
                write,
                memory,
            },
        }
    }
}

/// Returns the host address of one lane's access of `bytes` bytes, aligned to `unit`, or the fault it causes.
#[inline(always)]
pub fn translate<S: SpaceAccess>(
    sm: &mut Sm,
    lane: usize,
    address: u64,
    bytes: u64,
    unit: u64,
    write: bool,
) -> Result<*mut u8, InvalidAccess> {
    if address & (unit - 1) != 0 {
        return Err(InvalidAccess::Misaligned {
            address,
            bytes: unit as u32,
        });
    }
    let host = S::host(sm, lane, address, bytes);
    if host.is_null() || write && !S::writable(sm, address) {
        return Err(InvalidAccess::Illegal {
            address,
            bytes: unit as u32,
            write,
            memory: S::MEMORY,
        });
    }
    S::touch(sm, address, address, bytes, write);
    Ok(host)
}

/// Returns the host address of one lane's aligned access of `bytes` bytes. If it is invalid, records the fault of the
/// lane and returns `None`, or, if a GPU does not detect it, records the access.
#[inline(always)]
pub fn translate_lane<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
    write: bool,
) -> Option<*mut u8> {
    match translate::<S>(sm, lane, address, bytes, bytes, write) {
        Ok(host) => Some(host),
        Err(access) => recover::<S>(sm, inst, lane, access, bytes),
    }
}

/// Records what would be the fault `kind` of `lane` if a GPU detected it.
#[cold]
pub fn record_undetected(sm: &Sm, inst: &Inst, lane: usize, kind: impl Into<FaultKind>) {
    let fault = sm.fault_of(inst, lane, kind);
    let (site, block) = (sm.address_of(inst), sm.block.number);
    sm.grid.record_undetected(|all| all.add(site, block, fault));
}

/// Returns the host address of an invalid access of `bytes` bytes that a GPU does not detect, and records it. Stops the
/// launch with the fault of `lane` for any other.
#[cold]
pub fn recover<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    access: InvalidAccess,
    bytes: u64,
) -> Option<*mut u8> {
    if let InvalidAccess::Illegal { address, .. } = access {
        let host = S::host_past_end(sm, lane, address, bytes);
        if !host.is_null() {
            record_undetected(sm, inst, lane, access);
            return Some(host);
        }
    }
    sm.fail(inst, lane, access);
    None
}

/// Defines `$name(cpu)`, which returns the handlers of an access. `$run` executes one warp on a CPU with wide
/// registers; it is compiled once per type, for single warps and for gangs that go warp by warp. `$plainly` is
/// for other CPUs and for memory in which an address means something else in each thread; such memory has no
/// gang handler.
macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $operands:ident -> $read:ty, $run:ident, $plainly:ident, $gang:ident) => {
        $(#[$doc])*
        pub fn $name<S: SpaceAccess + 'static, M: Element, const N: usize>(cpu: Cpu) -> Handlers {
            unsafe fn plain<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the lowering gave the operands the types that the handler reads.
                unsafe {
                    let operands = $operands::<M, N>(WarpView, sm, inst);
                    next_or_null(inst, $plainly::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            #[inline(never)]
            unsafe fn one_warp<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
                operands: $read,
            ) -> bool {
                // SAFETY: the operands have the lowered types; this version is chosen only on CPUs with AVX2.
                unsafe { $run::<S, M, N>(sm, inst, operands) }
            }
            unsafe fn wide<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: `wide` is chosen only where `one_warp` can run, and the operands have the lowered
                // types.
                unsafe {
                    let operands = $operands::<M, N>(WarpView, sm, inst);
                    next_or_null(inst, one_warp::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_gang<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the operands have the lowered types. All live lanes of a gang's warp are active, so
                // its registers can be written as those of a single warp.
                unsafe {
                    $gang::<S, M, N>(sm, inst, |sm, operands| {
                        one_warp::<S, M, N>(sm, inst, operands)
                    })
                }
            }
            let (warp, gang): (Handler, Option<Handler>) = if !S::UNIFORM_ADDRESSES {
                (plain::<S, M, N>, None)
            } else if cpu.is_wide() {
                (wide::<S, M, N>, Some(wide_gang::<S, M, N>))
            } else {
                (plain::<S, M, N>, None)
            };
            Handlers {
                warp,
                gang,
                preserves_uniformity: S::UNIFORM_ADDRESSES,
            }
        }
    };
}

/// Returns the next instruction, or null if the access faulted.
#[inline(always)]
fn next_or_null(inst: &Inst, done: bool) -> Next {
    if done { inst.next() } else { std::ptr::null() }
}

access_handlers!(
    /// Returns the handlers of a load of `N` elements of type `M` from space `S`.
    load, load_operands -> &[u64; LANES], run_load, run_load_scalar, run_gang_load);
access_handlers!(
    /// Returns the handlers of a store of `N` elements of type `M` to space `S`.
    store, store_operands -> StoreOperands<M::Row, N>, run_store, run_store_scalar, run_gang_store);

/// Loads `arg0` elements from constant memory, `imm` bytes into the bank. On a GPU, such a load is an operand
/// of the instruction that uses the value.
pub fn load_constant_operand<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        let bank = sm.memory.constants.host.cast_const();
        // SAFETY: the bank has the size that the module declares, and the lowering checked the offset against
        // it.
        unsafe { read_constant::<M>(bank, inst, part) }
    })
}

/// Loads `arg0` elements of a kernel parameter, `imm` bytes into the parameters.
pub fn load_param<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        // SAFETY: `params` has all bytes that the kernel declares, and the lowering checked the offset.
        unsafe { read_constant::<M>(sm.grid.params.as_ptr(), inst, part) }
    })
}

/// Reads element `part` of those that `inst` loads at a fixed offset from `base`.
///
/// # Safety
/// The element must lie inside the memory that starts at `base`.
#[inline(always)]
unsafe fn read_constant<M: Element>(base: *const u8, inst: &Inst, part: usize) -> M::Row {
    let host = base.wrapping_add(inst.imm as usize).cast::<M>();
    // SAFETY: the caller guarantees that the element lies inside the memory at `base`.
    unsafe { host.add(part).read_unaligned() }.widen()
}
