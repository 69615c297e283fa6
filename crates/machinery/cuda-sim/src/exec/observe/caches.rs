//! The caches of one multiprocessor.

use crate::device::DeviceSpec;
use crate::isa::AccessKind;
use crate::profile::cache::Cache;
use crate::profile::site::SiteCounts;

/// Bytes of a line of the first cache and of the constant cache.
pub const LINE: u64 = 128;
pub const CONSTANT_LINE: u64 = 64;

/// What a multiprocessor keeps from one of its blocks to the next.
pub struct Caches {
    pub l1: Cache,
    /// Whether ordinary loads go through the first cache, and whether those of read-only data do.
    caches_global: bool,
    caches_read_only: bool,
    /// The small constant cache, and the larger one behind it.
    constant: Cache,
    pub constant_behind: Cache,
}

impl Caches {
    /// Empty caches, of a multiprocessor whose blocks take `shared_bytes` of the first one.
    pub fn new(device: &DeviceSpec, shared_bytes: u64) -> Caches {
        let rates = &device.rates;
        let taken = if rates.l1_shares_with_shared {
            shared_bytes
        } else {
            0
        };
        let l1 = u64::from(rates.l1_bytes).saturating_sub(taken);
        Caches {
            l1: Cache::new(l1, LINE),
            caches_global: rates.l1_caches_global,
            caches_read_only: rates.read_only_cache,
            constant: Cache::new(rates.constant_cache_bytes.into(), CONSTANT_LINE),
            constant_behind: Cache::new(rates.constant_behind_bytes.into(), CONSTANT_LINE),
        }
    }

    /// Whether the first cache is asked for what an access of global memory reads.
    #[inline(always)]
    pub fn cached(&self, kind: AccessKind) -> bool {
        match kind {
            AccessKind::Load | AccessKind::AsyncCopy => self.caches_global,
            AccessKind::ReadOnlyLoad => self.caches_read_only,
            AccessKind::Store
            | AccessKind::Atomic
            | AccessKind::MatrixLoad
            | AccessKind::AsyncCopyPastL1 => false,
        }
    }
}

#[cfg(test)]
impl Caches {
    /// Whether the first cache has a line; it does from then on.
    pub fn ask_for_test(&mut self, line: u64) -> bool {
        self.l1.ask(line, 1) == 1
    }
}

/// Who asks which cache.
#[derive(Clone, Copy)]
pub struct Asks {
    pub slot: u32,
    pub cache: Which,
}

#[derive(Clone, Copy)]
pub enum Which {
    First,
    Constant,
}

/// Asks a cache for what an access needs, and counts what it has.
#[inline(always)]
pub fn ask_now(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    asks: Asks,
    lines: impl Iterator<Item = (u64, u8)>,
) {
    let (mut hits, mut far) = (0, 0);
    match asks.cache {
        Which::First => {
            for (line, sectors) in lines {
                hits += caches.l1.ask(line, sectors).count_ones();
            }
        }
        Which::Constant => {
            for (line, _) in lines {
                if caches.constant.ask(line, 1) == 1 {
                    hits += 1;
                } else if caches.constant_behind.ask(line, 1) == 0 {
                    far += 1;
                }
            }
        }
    }
    let counts = &mut sites[asks.slot as usize];
    counts.hits += u64::from(hits);
    counts.far += far;
}
