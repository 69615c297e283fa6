//! What the warps of a gang are to ask their caches, noted until it is their member.

use super::caches::{CacheKind, CacheLookup};
use crate::exec::access_pattern::GangTraffic;
use crate::exec::gang::MAX_WARPS;
use std::rc::Rc;

/// Accesses that the warps of a gang have made, and for which their caches have not been asked yet.
/// A gang's warps run at once, but on a GPU they ask the caches one after the other: so it is noted
/// first, and asked warp by warp when the gang's slice is over.
#[derive(Default)]
pub struct DeferredAccesses {
    /// Accesses of several warps at once, in the order in which they were made.
    pub gang: Vec<GangAccess>,
    /// Accesses of one warp, for each warp of the gang.
    pub warps: [WarpAccesses; MAX_WARPS],
}

/// An access of several warps that follow one another in the block, all of which ask L1.
pub struct GangAccess {
    /// Where it is counted.
    pub slot: u32,
    /// The number of the line that the lines in `traffic` are relative to.
    pub origin: u64,
    /// The first warp's number in the block.
    pub first: usize,
    /// How many warps there are.
    pub warp_count: usize,
    pub traffic: Rc<GangTraffic>,
}

/// The accesses of one warp.
#[derive(Default)]
pub struct WarpAccesses {
    pub accesses: Vec<DeferredAccess>,
    /// The lines of all accesses, one access's behind the other's, each with its sectors as bits.
    pub lines: Vec<(u64, u8)>,
}

/// One of these accesses.
pub struct DeferredAccess {
    pub lookup: CacheLookup,
    /// How many of [`DeferredAccesses::gang`] were made before it.
    pub gang_accesses_before: usize,
    /// Where its lines end in [`WarpAccesses::lines`]; they begin where those of the access before end.
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

    /// Notes that warp `warp` of the block lookup for these lines.
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

    /// Notes that the warps at `warp_indices` of the block, a gang, ask L1 for the lines of `traffic`.
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
