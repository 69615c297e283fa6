//! Checks of bulk asynchronous copies when they start. Their reads and their writes to device memory are checked as
//! accesses of the thread that starts them. Shared memory that they write may not be used until they arrive. Then it is
//! initialized, but does not count as written by a thread, because the barrier of the copy orders it.

use super::{check, run_base};
use crate::check::checker::{Checker, Lanes, Values, WarpAccess};
use crate::check::lane_runs::{Accessor, Addresses};
use crate::check::semantics::AccessSemantics;
use crate::check::shadow::Shadow;
use crate::exec::memory::bulk::{Transfer, gather, transfer, writes_shared};
use crate::exec::sm::{Inst, Next, Sm};
use crate::isa::check_event::CheckEvent;
use crate::isa::{Access, AccessKind, LoadedValue, Memory};
use crate::lanes::{LANES, active};

/// Maximum number of bytes that are checked at once.
const WIDTH: u64 = 16;

/// Checks a bulk copy and starts it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a bulk copy.
pub unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        // SAFETY: the instruction is a bulk copy, as this function requires.
        let transfer = unsafe { transfer(sm, inst, lane) };
        // If the copy is invalid, the instruction itself reports the fault.
        if let Ok(transfer) = transfer {
            check_transfer(sm, inst, lane, &transfer);
        }
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

fn check_transfer(sm: &mut Sm, inst: &Inst, lane: usize, transfer: &Transfer) {
    let to_shared = writes_shared(inst);
    let (layout, bytes) = (transfer.layout, transfer.bytes);
    let data = match to_shared {
        true => Vec::new(),
        false => gather(sm, transfer.shared, layout, bytes),
    };
    check(sm, |sm, checker, shadow| {
        let site = sm.address_of(inst);
        let CheckEvent::Access(access) = sm.grid.program.listing.check_events.at(site) else {
            unreachable!("bulk copies are accesses");
        };
        let mut lanes = OneLane {
            sm,
            checker,
            shadow,
            site,
            lane,
            access,
        };
        if let Some(source) = transfer.source {
            for piece in layout.pieces(source, bytes) {
                lanes.read_shared(piece.address, piece.bytes as u64);
            }
        }
        for run in &transfer.runs {
            let width = WIDTH.min(1 << (run.address | run.bytes | WIDTH).trailing_zeros());
            for offset in (0..run.bytes).step_by(width as usize) {
                let mut value = [0; WIDTH as usize];
                if !to_shared {
                    let at = (run.at + offset) as usize;
                    value[..width as usize].copy_from_slice(&data[at..at + width as usize]);
                }
                lanes.access_device(run.address + offset, width, value);
            }
        }
        if let Some(start) = transfer.own_destination(&sm.block).filter(|_| to_shared) {
            let accessor = Accessor::new(sm.block.running, lane, site);
            let Shadow { order, shared, .. } = shadow;
            for piece in layout.pieces(start, bytes) {
                let (at, bytes) = (piece.address, piece.bytes as u64);
                shared.start_bulk_copy(order, checker.launch.checks, accessor, at, bytes);
            }
        }
    });
}

/// The checks of the accesses of one thread.
struct OneLane<'a> {
    sm: &'a Sm,
    checker: &'a mut Checker,
    shadow: &'a mut Shadow,
    site: u32,
    lane: usize,
    /// The access of the instruction.
    access: Access,
}

impl OneLane<'_> {
    /// Returns a part of the access that the instruction makes to device memory.
    fn device(&self, width: u64) -> WarpAccess {
        let kind = self.access.kind;
        WarpAccess {
            block: self.sm.block.number,
            warp: self.sm.block.running,
            site: self.site,
            access: Access {
                bytes: width as u32,
                ..self.access
            },
            reads: kind != AccessKind::BulkStore,
            writes: kind != AccessKind::BulkLoad,
            semantics: AccessSemantics::of(self.access),
        }
    }

    /// Checks a read of shared memory.
    fn read_shared(&mut self, address: u64, bytes: u64) {
        let events = &self.sm.grid.program.listing.check_events;
        let values = Values {
            stored: |_: usize| [0; 16],
            before: |_: u64, _: usize| [0; 16],
        };
        for at in (address..address + bytes).step_by(WIDTH as usize) {
            let lanes = Lanes {
                at: Addresses {
                    row: &[at; LANES],
                    offset: 0,
                },
                mask: 1 << self.lane,
                bytes: WIDTH,
            };
            let current = WarpAccess {
                access: Access {
                    memory: Memory::Shared,
                    kind: AccessKind::Load,
                    ordered: None,
                    ..self.access
                },
                reads: true,
                writes: false,
                semantics: AccessSemantics::Load(LoadedValue::default()),
                ..self.device(WIDTH)
            };
            (self.checker).check_shared(self.shadow, events, current, lanes, values);
        }
    }

    /// Checks an access to device memory, which writes a value unless it only reads.
    fn access_device(&mut self, address: u64, width: u64, value: [u8; WIDTH as usize]) {
        let events = &self.sm.grid.program.listing.check_events;
        let values = Values {
            stored: |_: usize| value,
            before: |at: u64, width: usize| super::access::device_bytes(self.sm, at, width),
        };
        let lanes = Lanes {
            at: Addresses {
                row: &[address; LANES],
                offset: 0,
            },
            mask: 1 << self.lane,
            bytes: width,
        };
        let current = self.device(width);
        (self.checker).check_device(self.shadow, events, current, lanes, values);
    }
}
