//! From an address to the bytes it means, or to the fault it is.

use crate::exec::fault::FaultKind;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::space::SpaceAccess;
use crate::lanes::{LANES, active};

/// The host's address of one lane's access, or the fault it is.
#[inline(always)]
pub fn reach<S: SpaceAccess>(
    sm: &mut Sm,
    lane: usize,
    address: u64,
    bytes: u64,
    unit: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    if address & (unit - 1) != 0 {
        return Err(FaultKind::MisalignedAddress {
            address,
            bytes: unit as u32,
        });
    }
    let host = S::host(sm, lane, address, bytes);
    if host.is_null() || write && !S::writable(sm, address) {
        return Err(FaultKind::IllegalAddress {
            address,
            bytes: unit as u32,
            write,
            space: S::NAME,
        });
    }
    S::touch(sm, address, address, bytes, write);
    Ok(host)
}

/// The fewest running lanes for which it is quicker to look at all addresses together.
const SEVERAL: u32 = 4;

/// Accesses of a warp that are all in one allocation.
#[derive(Clone, Copy)]
pub struct InOne {
    /// The lowest address.
    pub lowest: u64,
    /// Where the host has it.
    host: *mut u8,
}

impl InOne {
    /// The host's address of an access, which is marked.
    #[inline(always)]
    pub fn at<S: SpaceAccess>(self, sm: &Sm, address: u64, size: u64, write: bool) -> *mut u8 {
        S::touch(sm, self.lowest, address, size, write);
        self.host.wrapping_add((address - self.lowest) as usize)
    }
}

/// Where the running lanes' accesses are, if each is aligned to `size` and all are in one allocation up to the end
/// of the highest. None also where only a few lanes run. Every thread has to see the same memory.
#[inline(always)]
pub fn in_one<S: SpaceAccess>(
    sm: &mut Sm,
    addresses: &[u64; LANES],
    offset: u64,
    size: u64,
) -> Option<InOne> {
    if sm.mask.count_ones() < SEVERAL {
        return None;
    }
    let (mut lowest, mut highest, mut bits) = (u64::MAX, 0, 0);
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(offset);
        lowest = lowest.min(address);
        highest = highest.max(address);
        bits |= address;
    }
    let bytes = (highest - lowest).saturating_add(size);
    if bits & (size - 1) != 0 {
        return None;
    }
    let host = S::host(sm, 0, lowest, bytes);
    (!host.is_null()).then_some(InOne { lowest, host })
}

/// Notes what `lane` did; answers that the access could not be done.
#[cold]
pub fn failed(sm: &mut Sm, inst: &Inst, lane: usize, kind: FaultKind) -> bool {
    sm.fail(inst, lane, kind);
    false
}

/// Where atomics find their operand.
pub fn reach_atomic<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Result<*mut u8, Next> {
    reach::<S>(sm, lane, address, bytes, bytes, true).map_err(|kind| sm.fail(inst, lane, kind))
}
