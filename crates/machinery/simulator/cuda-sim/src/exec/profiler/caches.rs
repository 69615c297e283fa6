//! The simulated caches of one SM, and the accesses of a gang's warps that are deferred until each warp's position
//! in the order.

use super::access_pattern::GangTraffic;
use crate::device::{DeviceSpec, Rates};
use crate::exec::warp::gang_state::MAX_WARPS;
use crate::isa::{AccessClass, AccessKind, CachedIn, Memory};
use crate::profile::cache::Cache;
use crate::profile::collect::SiteCounts;
use std::rc::Rc;

/// Bytes per L1 line.
pub const LINE: u64 = 128;
/// Bytes per line of the constant caches.
pub const CONSTANT_LINE: u64 = 64;

/// The caches of an SM. Each of its blocks finds them as the block before left them.
pub struct Caches {
    pub l1: Cache,
    /// Bit mask of the kinds of global access that are cached in L1.
    l1_kinds: u32,
    /// The small constant cache.
    constant: Cache,
    /// The larger constant cache behind it.
    pub constant_l15: Cache,
}

impl Caches {
    /// Creates empty caches of an SM whose blocks use `shared_bytes` of L1 as shared memory.
    pub fn new(device: &DeviceSpec, shared_bytes: u64) -> Caches {
        let rates = &device.rates;
        Caches {
            l1: Cache::new(l1_bytes(rates, shared_bytes), LINE),
            l1_kinds: l1_kinds(rates),
            constant: Cache::new(rates.constant_cache_bytes.into(), CONSTANT_LINE),
            constant_l15: Cache::new(rates.constant_l15_bytes.into(), CONSTANT_LINE),
        }
    }

    /// Empties caches that were created for the same device. Returns false if their sizes differ from those
    /// of an SM with this use of shared memory. All lines looked up must be below `MAX_LINES` of caches.
    pub fn empty(&mut self, device: &DeviceSpec, shared_bytes: u64) -> bool {
        let rates = &device.rates;
        let mut fit = true;
        for (cache, bytes, line) in [
            (&mut self.l1, l1_bytes(rates, shared_bytes), LINE),
            (
                &mut self.constant,
                rates.constant_cache_bytes.into(),
                CONSTANT_LINE,
            ),
            (
                &mut self.constant_l15,
                rates.constant_l15_bytes.into(),
                CONSTANT_LINE,
            ),
        ] {
            fit &= cache.has_size(bytes, line);
            cache.clear();
        }
        fit
    }

    /// Returns true if a global access of this kind is cached in L1.
    #[inline(always)]
    pub fn is_cached_in_l1(&self, kind: AccessKind) -> bool {
        self.l1_kinds >> kind as u32 & 1 == 1
    }
}

/// Returns the bytes of L1 that serve as a cache if blocks use `shared_bytes` as shared memory.
fn l1_bytes(rates: &Rates, shared_bytes: u64) -> u64 {
    let taken = if rates.l1_shares_with_shared {
        shared_bytes
    } else {
        0
    };
    u64::from(rates.l1_bytes).saturating_sub(taken)
}

/// Returns the bit mask of the kinds of global access that are cached in L1 on a GPU with these rates.
fn l1_kinds(rates: &Rates) -> u32 {
    let rows = AccessClass::ALL.iter().map(|class| class.row());
    let cached = rows.filter(|row| {
        row.memory == Memory::Global
            && match row.cached_in {
                CachedIn::L1 => true,
                CachedIn::L1IfGlobalCached => rates.l1_caches_global,
                CachedIn::L1IfReadOnlyCached => rates.read_only_cache,
                CachedIn::None | CachedIn::Constant => false,
            }
    });
    cached
        .flat_map(|row| row.kinds)
        .fold(0, |kinds, &kind| kinds | 1 << kind as u32)
}

#[cfg(test)]
impl Caches {
    /// Looks up a line in L1, which then holds it. Returns true on a hit.
    pub fn access_for_test(&mut self, line: u64) -> bool {
        self.l1.access(line, 1) == 1
    }
}

/// The counter slot of an access and the cache it looks up.
#[derive(Clone, Copy)]
pub struct CacheLookup {
    pub slot: u32,
    pub cache: CacheKind,
}

/// A cache of the SM.
#[derive(Clone, Copy)]
pub enum CacheKind {
    L1,
    /// The L1 cache, by a store to local memory: the line is cached, but the store goes on to the L2 cache.
    L1WriteThrough,
    Constant,
}

/// Looks up the lines of an access in a cache and counts the hits.
#[inline(always)]
pub fn look_up(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    lookup: CacheLookup,
    lines: impl Iterator<Item = (u64, u8)>,
) {
    let (mut hits, mut l15_misses) = (0, 0);
    match lookup.cache {
        CacheKind::L1 => {
            for (line, sectors) in lines {
                hits += caches.l1.access(line, sectors).count_ones();
            }
        }
        CacheKind::L1WriteThrough => {
            for (line, sectors) in lines {
                caches.l1.access(line, sectors);
            }
        }
        CacheKind::Constant => {
            for (line, _) in lines {
                if caches.constant.access(line, 1) == 1 {
                    hits += 1;
                } else if caches.constant_l15.access(line, 1) == 0 {
                    l15_misses += 1;
                }
            }
        }
    }
    let counts = &mut sites[lookup.slot as usize];
    counts.hits += u64::from(hits);
    counts.l15_misses += l15_misses;
}

/// Cache accesses that the warps of a gang have made but that have not reached the caches. A gang's warps run
/// at once, whereas on a GPU they access the caches one after the other. Accesses are therefore deferred and
/// replayed warp by warp at the end of the gang's slice.
#[derive(Default)]
pub struct DeferredAccesses {
    /// Accesses of several warps at once, in program order.
    pub gang: Vec<GangAccess>,
    /// Accesses of single warps, for each warp of the gang. Boxed, because every launch moves this structure.
    pub warps: Box<[WarpAccesses; MAX_WARPS]>,
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
        for warp in self.warps.iter_mut() {
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
