//! From an address to the bytes it means, or to the fault it is.

use crate::exec::fault::FaultKind;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::state_space::SpaceAccess;

/// The host's address of one lane's access, or the fault it is.
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

/// Notes what `lane` did; answers that the access could not be done.
#[cold]
pub fn record_fault(sm: &mut Sm, inst: &Inst, lane: usize, kind: FaultKind) -> bool {
    sm.fail(inst, lane, kind);
    false
}

/// Where atomics find their operand.
pub fn translate_atomic<S: SpaceAccess>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Result<*mut u8, Next> {
    translate::<S>(sm, lane, address, bytes, bytes, true).map_err(|kind| sm.fail(inst, lane, kind))
}
