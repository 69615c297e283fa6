//! What `wgmma` reads of shared memory: when it begins, and once more when it is waited for, as a GPU may read at
//! any time between.

use super::{check, run_base};
use crate::check::checker::{Checker, Lanes, Values, WarpAccess};
use crate::check::lane_runs::Addresses;
use crate::check::semantics::AccessSemantics;
use crate::check::shadow::Shadow;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::tensor::warpgroup::Matrices;
use crate::isa::{Access, AccessKind, Memory, Update};
use crate::lanes::{FULL, LANES};

/// Bytes that are read from each address.
const BYTES: u32 = 16;

/// # Safety
/// As for [`crate::exec::sm::Handler`]; it is a `wgmma.mma_async`.
pub unsafe fn product(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    let matrices = unsafe { Matrices::of(sm, inst) };
    // Without them it is about to fail.
    if let Ok(matrices) = matrices {
        let site = sm.address_of(inst);
        let chunks: Vec<u64> = matrices.chunks().collect();
        check(sm, |sm, checker, shadow| {
            read(sm, checker, shadow, (site, &chunks), true);
            sm.block.warp_mut().products.reads(site, chunks);
        });
    }
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// # Safety
/// As for [`crate::exec::sm::Handler`]; it is a `wgmma.wait_group`.
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    check(sm, |sm, checker, shadow| {
        for (site, chunks) in sm.block.warp_mut().products.read(inst.arg0) {
            read(sm, checker, shadow, (site, &chunks), false);
        }
    });
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// An instruction of a warp reads from these addresses of shared memory; which of its lanes does is not said.
/// What is not written is told the `first` time.
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
    let checked = &sm.grid.program.listing.checked;
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
