//! The caches of one multiprocessor.

use crate::device::{DeviceSpec, Rates};
use crate::isa::{AccessClass, AccessKind, CachedIn, Memory};
use crate::profile::cache::Cache;
use crate::profile::site::SiteCounts;

/// Bytes of a line of L1.
pub const LINE: u64 = 128;
/// Bytes of a line of the constant cache.
pub const CONSTANT_LINE: u64 = 64;

/// The caches of a multiprocessor, which its blocks find as the block before left them.
pub struct Caches {
    pub l1: Cache,
    /// The kinds of access of global memory that look in L1 for what they read, a bit each.
    l1_kinds: u32,
    /// The small constant cache.
    constant: Cache,
    /// The larger cache that is asked for what the constant cache does not have.
    pub constant_l15: Cache,
}

impl Caches {
    /// Empty caches, of a multiprocessor whose blocks take `shared_bytes` of L1 as shared memory.
    pub fn new(device: &DeviceSpec, shared_bytes: u64) -> Caches {
        let rates = &device.rates;
        Caches {
            l1: Cache::new(l1_bytes(rates, shared_bytes), LINE),
            l1_kinds: l1_kinds(rates),
            constant: Cache::new(rates.constant_cache_bytes.into(), CONSTANT_LINE),
            constant_l15: Cache::new(rates.constant_behind_bytes.into(), CONSTANT_LINE),
        }
    }

    /// Empties caches that were made for such a multiprocessor of the same device; false where they have not
    /// the room that it has. Of what they are asked for, all lines are below `MOST_LINES` of caches.
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
                rates.constant_behind_bytes.into(),
                CONSTANT_LINE,
            ),
        ] {
            fit &= cache.has_size(bytes, line);
            cache.empty();
        }
        fit
    }

    /// Whether an access of global memory looks in L1 for what it reads.
    #[inline(always)]
    pub fn is_cached_in_l1(&self, kind: AccessKind) -> bool {
        self.l1_kinds >> kind as u32 & 1 == 1
    }
}

/// Bytes of L1 that are a cache where blocks take so many as shared memory.
fn l1_bytes(rates: &Rates, shared_bytes: u64) -> u64 {
    let taken = if rates.l1_shares_with_shared {
        shared_bytes
    } else {
        0
    };
    u64::from(rates.l1_bytes).saturating_sub(taken)
}

/// The kinds of access of global memory that look in L1 on a GPU with these rates, a bit each.
fn l1_kinds(rates: &Rates) -> u32 {
    let rows = AccessClass::ALL.iter().map(|class| class.row());
    let cached = rows.filter(|row| {
        row.memory == Memory::Global
            && match row.cached_in {
                CachedIn::First => true,
                CachedIn::FirstAsOrdinary => rates.l1_caches_global,
                CachedIn::FirstAsReadOnly => rates.read_only_cache,
                CachedIn::Nothing | CachedIn::Constant => false,
            }
    });
    cached
        .flat_map(|row| row.kinds)
        .fold(0, |kinds, &kind| kinds | 1 << kind as u32)
}

#[cfg(test)]
impl Caches {
    /// Whether L1 has a line; it has it from then on.
    pub fn access_for_test(&mut self, line: u64) -> bool {
        self.l1.access(line, 1) == 1
    }
}

/// Where an access is counted, and which cache it lookup.
#[derive(Clone, Copy)]
pub struct CacheLookup {
    pub slot: u32,
    pub cache: CacheKind,
}

/// A cache of the multiprocessor.
#[derive(Clone, Copy)]
pub enum CacheKind {
    L1,
    Constant,
}

/// Asks a cache for the lines of an access, and counts those that it has.
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
