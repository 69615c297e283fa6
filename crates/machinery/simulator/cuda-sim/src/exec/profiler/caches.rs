//! The simulated caches of one SM.

use crate::device::{DeviceSpec, Rates};
use crate::isa::{AccessClass, AccessKind, CachedIn, Memory};
use crate::profile::cache::Cache;
use crate::profile::collect::SiteCounts;

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
