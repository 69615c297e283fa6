//! A set-associative sector cache with LRU replacement.

/// Ways per set.
const WAYS: usize = 8;

/// The maximum number of sectors per line.
const SECTORS: u32 = 4;

/// The number of times that a cache can be cleared by changing its tags, before the sets must be zeroed.
const GENERATIONS: u64 = 1 << 14;

/// The upper bound on line numbers.
pub const MAX_LINES: u64 = 1 << 45;

/// The state of a cache: its lines, and which of their sectors are valid.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: Vec<Set>,
    /// An offset that is added to each line number to form its tag; never zero. Tags below it are stale.
    tag_base: u64,
}

/// The lines of a set, most recently used first. A set fills one cache line of the host. Each word holds the
/// tag, or zero if the way is empty, and below it one valid bit per sector.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Set([u64; WAYS]);

impl Cache {
    /// Creates an empty cache of at most `bytes` bytes, in lines of `line` bytes. A cache of 0 bytes never
    /// hits.
    pub fn new(bytes: u64, line: u64) -> Cache {
        let sets = (bytes / line) / WAYS as u64;
        Cache {
            sets: vec![Set::default(); sets as usize],
            tag_base: 1,
        }
    }

    /// Returns true if [`Cache::new`] would create a cache of the same size.
    pub fn has_size(&self, bytes: u64, line: u64) -> bool {
        self.sets.len() as u64 == (bytes / line) / WAYS as u64
    }

    /// Clears the cache. All line numbers must be below [`MAX_LINES`]: then stale tags never match again, and
    /// stale lines are evicted before all others, because they are the least recently used.
    pub fn clear(&mut self) {
        self.tag_base += MAX_LINES;
        if self.tag_base > GENERATIONS * MAX_LINES {
            self.sets.fill(Set::default());
            self.tag_base = 1;
        }
    }

    /// Accesses `sectors` (a mask of at most four) of line number `line`, which must be less than 2^59.
    /// Returns the mask of the sectors that hit. All of them are valid afterwards.
    #[inline(always)]
    pub fn access(&mut self, line: u64, sectors: u8) -> u8 {
        let Some(set) = self.set(line) else {
            return 0;
        };
        let Set(ways) = &mut self.sets[set];
        let tag = line + self.tag_base;
        let newest = ways[0];
        if newest >> SECTORS == tag {
            ways[0] |= u64::from(sectors);
            return newest as u8 & sectors;
        }
        // More recently used lines move down by one, over the line's old way or over the least recently used
        // line.
        let mut moved = newest;
        for way in &mut ways[1..] {
            std::mem::swap(way, &mut moved);
            if moved >> SECTORS == tag {
                ways[0] = moved | u64::from(sectors);
                return moved as u8 & sectors;
            }
        }
        ways[0] = tag << SECTORS | u64::from(sectors);
        0
    }

    /// Prefetches the set of a line into the host's cache. Because the caches of many SMs take turns, most
    /// sets have been evicted from it.
    #[inline(always)]
    pub fn prefetch(&self, line: u64) {
        #[cfg(target_arch = "x86_64")]
        if let Some(set) = self.set(line) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let set = (&raw const self.sets[set]).cast();
            // SAFETY: the prefetch instruction is part of SSE, which every x86-64 CPU has, and it never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(set) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }

    /// Returns the set of line number `line`; `None` if the cache has no sets.
    #[inline(always)]
    fn set(&self, line: u64) -> Option<usize> {
        // Hash the line number, as hardware does, so that lines at power-of-two distances do not share a set.
        let (mixed, sets) = (line ^ (line >> 7) ^ (line >> 15), self.sets.len() as u64);
        // Avoid the division if possible: it would take as long as the rest of the look-up.
        let set = match sets {
            0 => return None,
            _ if sets.is_power_of_two() => mixed & (sets - 1),
            _ => mixed % sets,
        };
        Some(set as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_hits_once_it_was_accessed() {
        let mut cache = Cache::new(4096, 128);
        assert_eq!(cache.access(7, 0b0011), 0);
        assert_eq!(cache.access(7, 0b0110), 0b0010);
        assert_eq!(cache.access(7, 0b1111), 0b0111);
        assert_eq!(cache.access(8, 0b0001), 0);
    }

    #[test]
    fn lines_that_fit_hit_and_others_thrash() {
        let passes = |lines: u64| {
            let mut cache = Cache::new(64 * 128, 128);
            let mut hits = 0;
            for _ in 0..3 {
                for line in 0..lines {
                    hits += u64::from(cache.access(line, 1));
                }
            }
            hits
        };
        assert_eq!(passes(64), 2 * 64);
        assert_eq!(passes(200), 0);
    }

    #[test]
    fn power_of_two_strides_are_spread_over_sets() {
        let mut cache = Cache::new(64 << 10, 128);
        for _ in 0..2 {
            for row in 0..64 {
                cache.access(row << 8, 1);
            }
        }
        let hits: u8 = (0..64).map(|row| cache.access(row << 8, 1)).sum();
        assert_eq!(hits, 64);
    }

    #[test]
    fn a_cleared_cache_behaves_like_a_new_one() {
        let mut cleared = Cache::new(4096, 128);
        let lines = |round: u64| (0..90).map(move |n| (n * n * (round + 3)) % 67);
        for round in 0..GENERATIONS + 5 {
            let mut new = Cache::new(4096, 128);
            for line in lines(round % 11) {
                let sectors = 1 + (line % 15) as u8;
                assert_eq!(cleared.access(line, sectors), new.access(line, sectors));
            }
            cleared.clear();
        }
        assert!(cleared.has_size(4096, 128) && !cleared.has_size(8192, 128));
    }

    #[test]
    fn a_cache_of_size_0_never_hits() {
        let mut cache = Cache::new(0, 128);
        assert_eq!((cache.access(1, 1), cache.access(1, 1)), (0, 0));
    }
}
