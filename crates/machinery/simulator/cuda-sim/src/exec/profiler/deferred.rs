//! Cache accesses of a gang's warps that are deferred until each warp's position in the order.

use super::access_pattern::GangTraffic;
use super::caches::{CacheKind, CacheLookup};
use crate::exec::warp::gang_state::MAX_WARPS;
use std::rc::Rc;

/// Cache accesses that the warps of a gang have made but that have not reached the caches. A gang's warps run
/// at once, whereas on a GPU they access the caches one after the other. Accesses are therefore deferred and
/// replayed warp by warp at the end of the gang's slice.
#[derive(Default)]
pub struct DeferredAccesses {
    /// Accesses of several warps at once, in program order.
    pub gang: Vec<GangAccess>,
    /// Accesses of single warps, for each warp of the gang.
    pub warps: [WarpAccesses; MAX_WARPS],
}

/// An access of several consecutive warps of the block, all of which look up L1.
pub struct GangAccess {
    /// Counter slot.
    pub slot: u32,
    /// Number of the line to which the lines in `traffic` are relative.
    pub origin: u64,
    /// Index of the first warp in the block.
    pub first: usize,
    /// Number of warps.
    pub warp_count: usize,
    pub traffic: Rc<GangTraffic>,
}

/// The accesses of one warp.
#[derive(Default)]
pub struct WarpAccesses {
    pub accesses: Vec<DeferredAccess>,
    /// Lines of all accesses, one access after the other, each with its bit mask of sectors.
    pub lines: Vec<(u64, u8)>,
}

/// An access of one warp.
pub struct DeferredAccess {
    pub lookup: CacheLookup,
    /// Number of [`DeferredAccesses::gang`] that precede it.
    pub gang_accesses_before: usize,
    /// End of its lines in [`WarpAccesses::lines`]; they start where those of the access before end.
    pub end: usize,
}

impl DeferredAccesses {
    pub fn clear(&mut self) {
        self.gang.clear();
        for warp in &mut self.warps {
            warp.accesses.clear();
            warp.lines.clear();
        }
    }

    /// Defers the lookup of these lines by the block's warp with index `warp`.
    #[inline(always)]
    pub fn defer(
        &mut self,
        warp: usize,
        lookup: CacheLookup,
        lines: impl Iterator<Item = (u64, u8)>,
    ) {
        let accesses = &mut self.warps[warp % MAX_WARPS];
        accesses.lines.extend(lines);
        accesses.accesses.push(DeferredAccess {
            lookup,
            gang_accesses_before: self.gang.len(),
            end: accesses.lines.len(),
        });
    }

    /// Defers the lookup of the lines of `traffic` in L1 by the gang of the warps at `warp_indices`.
    #[inline(always)]
    pub fn defer_gang(
        &mut self,
        slot: u32,
        origin: u64,
        traffic: &Rc<GangTraffic>,
        warp_indices: &[usize],
    ) {
        let (Some(&first), Some(&last)) = (warp_indices.first(), warp_indices.last()) else {
            return;
        };
        if last - first + 1 == warp_indices.len() {
            self.gang.push(GangAccess {
                slot,
                origin,
                first,
                warp_count: warp_indices.len(),
                traffic: traffic.clone(),
            });
            return;
        }
        let lookup = CacheLookup {
            slot,
            cache: CacheKind::L1,
        };
        for (member, &warp) in warp_indices.iter().enumerate() {
            self.defer(warp, lookup, traffic.of_warp(member, origin));
        }
    }
}
