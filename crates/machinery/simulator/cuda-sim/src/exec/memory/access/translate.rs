//! Translation of simulated addresses to host addresses, or to faults.

use crate::exec::fault::FaultKind;
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::sm::{Inst, Next, Sm};

/// Returns the host address of one lane's access of `bytes` bytes, aligned to `unit`, or the fault it causes.
#[inline(always)]
pub fn translate<S: SpaceAccess>(
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

/// Records the fault of `lane` and returns false, so that the access stops.
#[cold]
pub fn record_fault(sm: &mut Sm, inst: &Inst, lane: usize, kind: FaultKind) -> bool {
    sm.fail(inst, lane, kind);
    false
}

/// Returns the host address of an atomic's operand. On a fault, records it and returns a null [`Next`].
pub fn translate_atomic<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Result<*mut u8, Next> {
    translate::<S>(sm, lane, address, bytes, bytes, true).map_err(|kind| sm.fail(inst, lane, kind))
}
