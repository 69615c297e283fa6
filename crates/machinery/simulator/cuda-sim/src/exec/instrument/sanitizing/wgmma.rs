//! Checks of the shared memory that `wgmma` reads. Each access is checked when the instruction is issued and
//! again when it is waited for, because a GPU may read at any time in between.

use super::{check, run_base};
use crate::check::checker::{Checker, Lanes, Values, WarpAccess};
use crate::check::lane_runs::Addresses;
use crate::check::semantics::AccessSemantics;
use crate::check::shadow::Shadow;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::tensor::warpgroup::Matrices;
use crate::isa::{Access, AccessKind, Element, Memory, Update};
use crate::lanes::{FULL, LANES};

/// Bytes read at each address.
const BYTES: u32 = 16;

/// Checks the operands of a `wgmma.mma_async` in shared memory and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a `wgmma.mma_async`.
pub unsafe fn product(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is a `wgmma.mma_async`, as this function requires.
    let matrices = unsafe { Matrices::of(sm, inst) };
    // If the descriptors are invalid, the instruction itself reports the fault.
    if let Ok(matrices) = matrices {
        let site = sm.address_of(inst);
        let chunks: Vec<u64> = matrices.chunks().collect();
        check(sm, |sm, checker, shadow| {
            read(sm, checker, shadow, (site, &chunks), true);
            sm.block.warp_mut().products.start_read(site, chunks);
        });
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks again the operands of the instructions that a `wgmma.wait_group` waits for, and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a `wgmma.wait_group`.
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    check(sm, |sm, checker, shadow| {
        for (site, chunks) in sm.block.warp_mut().products.finish_reads(inst.arg0) {
            read(sm, checker, shadow, (site, &chunks), false);
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks a warp's read of these addresses in shared memory. The reads are not attributed to single lanes.
/// Uninitialized memory is reported only the `first` time.
fn read(
    sm: &Sm,
    checker: &mut Checker,
    shadow: &mut Shadow,
    (site, chunks): (u32, &[u64]),
    first: bool,
) {
    let access = Access {
        memory: Memory::Shared,
        kind: AccessKind::MatrixLoad,
        bytes: BYTES,
        element: Element::WORD,
        address: 0,
        ordered: None,
        update: Update::default(),
    };
    let current = WarpAccess {
        block: sm.block.number,
        warp: sm.block.running,
        site,
        access,
        reads: first,
        writes: false,
        semantics: AccessSemantics::Load,
    };
    let values = Values {
        stored: |_| [0; 16],
        before: |_, _| [0; 16],
    };
    let checked = &sm.grid.program.listing.check_events;
    for some in chunks.chunks(LANES) {
        let mut row = [0; LANES];
        row[..some.len()].copy_from_slice(some);
        let lanes = Lanes {
            at: Addresses {
                row: &row,
                offset: 0,
            },
            mask: FULL >> (LANES - some.len()),
            bytes: BYTES.into(),
        };
        checker.check_shared(shadow, checked, current, lanes, values);
    }
}
