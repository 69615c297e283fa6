//! Instructions of clusters: the cluster's barrier, and addresses in the shared memory of its blocks. Source: PTX ISA,
//! sections `barrier.cluster`, `mapa`, `getctarank` and `isspacep`.

use super::schedule::{Depth, Sleep};
use super::sm::cluster::{mapped_address, rank_and_offset};
use super::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::memory::{SHARED_WINDOW, in_window};

/// Runs `barrier.cluster.arrive`.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn arrive(sm: &mut Sm, inst: &Inst) -> Next {
    // Lanes that arrived in an earlier phase, which another block has completed, may arrive again.
    sm.block.update_cluster_barrier();
    let mask = sm.mask;
    sm.block.warp_mut().cluster_arrived |= mask;
    sm.counts.barriers += 1;
    sm.block.update_cluster_barrier();
    inst.next()
}

/// Tests whether the phase of the cluster's barrier has completed in which the lanes have arrived. Operand 0 is a
/// predicate. If it has not, the warp yields.
///
/// # Safety
/// As for [`arrive`].
pub unsafe fn has_completed(sm: &mut Sm, inst: &Inst) -> Next {
    sm.block.update_cluster_barrier();
    let waiting = sm.mask & sm.block.warp().cluster_arrived;
    if waiting != 0 {
        let phase = sm.block.cluster_phase;
        sm.record_probe(inst, 0, phase, 1);
        if sm.block.cluster.is_some() {
            // Once its other warps have had a turn, the block gives way to the others of the cluster.
            sm.block_deadline = sm.clock;
        }
        if sm.schedule.is_some() {
            // A random schedule prefers warps that are awake.
            sm.block.warp_mut().sleep = Some(Sleep {
                depth: Depth::Spinning,
                device: true,
            });
        }
    }
    // SAFETY: operand 0 is a predicate.
    unsafe { sm.set_predicate(inst, 0, !waiting) };
    inst.next()
}

/// Runs `mapa`. Operands: d, a, both 64-bit rows, and the rank, a 32-bit row. `imm` is the start of the window of the
/// addresses.
///
/// # Safety
/// As for [`arrive`].
pub unsafe fn map_address(sm: &mut Sm, inst: &Inst) -> Next {
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
/// As for [`arrive`].
pub unsafe fn rank_of(sm: &mut Sm, inst: &Inst) -> Next {
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

/// Tests whether generic addresses are in the shared memory of the own block. Operands: p, a.
///
/// # Safety
/// As for [`arrive`].
pub unsafe fn is_own_shared(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate, operand 1 is a 64-bit row.
    unsafe {
        let addresses = *sm.row::<u64>(inst, 1);
        let inside = |lane: &usize| {
            let address = addresses[*lane];
            in_window(address, SHARED_WINDOW) && sm.block.is_own_shared(address - SHARED_WINDOW)
        };
        let lanes = (0..LANES).filter(inside);
        sm.set_predicate(inst, 0, lanes.fold(0, |mask, lane| mask | 1 << lane));
    }
    inst.next()
}
