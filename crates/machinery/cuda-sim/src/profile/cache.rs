//! A cache: lines of sectors, a few ways a set, the least recently used line goes first.

/// Ways of a set.
const WAYS: usize = 8;

/// Sectors of a line, at most.
const SECTORS: u32 = 4;

/// The most times that a cache is emptied by calling its lines by other numbers.
const GENERATIONS: u64 = 1 << 14;

/// Numbers of lines are below this in a cache that is emptied so.
pub const MOST_LINES: u64 = 1 << 45;

/// Which lines are in a cache, and which of their sectors.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: Vec<Set>,
    /// Added to a line's number, and never zero: what has another one in a set is not there any more.
    first: u64,
}

/// The lines of a set, the one used last first: as many words as the host's own caches have in a
/// line. Each is the line's number with [`Cache::first`] added, zero where there is none, and below it a
/// bit for each of its sectors that is there.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Set([u64; WAYS]);

impl Cache {
    /// An empty cache of at most `bytes` bytes, in lines of `line` bytes. One of no bytes at all
    /// never has anything.
    pub fn new(bytes: u64, line: u64) -> Cache {
        let sets = (bytes / line) / WAYS as u64;
        Cache {
            sets: vec![Set::default(); sets as usize],
            first: 1,
        }
    }

    /// Whether it has as much room as a new one would.
    pub fn is_of(&self, bytes: u64, line: u64) -> bool {
        self.sets.len() as u64 == (bytes / line) / WAYS as u64
    }

    /// Empties it. Lines' numbers were and will be below [`MOST_LINES`]: what is left of lines in the sets is
    /// then of numbers that no line has any more. It stands behind all that is asked for, and falls out
    /// as if it were nothing.
    pub fn empty(&mut self) {
        self.first += MOST_LINES;
        if self.first > GENERATIONS * MOST_LINES {
            self.sets.fill(Set::default());
            self.first = 1;
        }
    }

    /// Asks for `sectors`, a bit each of at most four, of line number `line`, which is below 2^59:
    /// answers those that are there. All of them are there from then on.
    #[inline(always)]
    pub fn ask(&mut self, line: u64, sectors: u8) -> u8 {
        let Some(set) = self.set(line) else {
            return 0;
        };
        let Set(ways) = &mut self.sets[set];
        let tag = line + self.first;
        let there = ways[0];
        if there >> SECTORS == tag {
            ways[0] |= u64::from(sectors);
            return there as u8 & sectors;
        }
        // Those used later move down: over the line's old place, or over the one used longest ago.
        let mut above = there;
        for way in &mut ways[1..] {
            std::mem::swap(way, &mut above);
            if above >> SECTORS == tag {
                ways[0] = above | u64::from(sectors);
                return above as u8 & sectors;
            }
        }
        ways[0] = tag << SECTORS | u64::from(sectors);
        0
    }

    /// Line number `line` is about to be asked for: the host's cache may fetch what is known of its
    /// set. Where many multiprocessors' caches take turns, most sets have left it.
    #[inline(always)]
    pub fn prefetch(&self, line: u64) {
        #[cfg(target_arch = "x86_64")]
        if let Some(set) = self.set(line) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let set = (&raw const self.sets[set]).cast();
            // SAFETY: every x86-64 CPU has this instruction, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(set) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }

    /// The set of line number `line`; none where there are no sets.
    #[inline(always)]
    fn set(&self, line: u64) -> Option<usize> {
        // Lines a power of two apart share no set: hardware mixes addresses as well.
        let (mixed, sets) = (line ^ (line >> 7) ^ (line >> 15), self.sets.len() as u64);
        // A division takes as long as all the rest.
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
    fn a_sector_is_there_once_it_was_asked_for() {
        let mut cache = Cache::new(4096, 128);
        assert_eq!(cache.ask(7, 0b0011), 0);
        assert_eq!(cache.ask(7, 0b0110), 0b0010);
        assert_eq!(cache.ask(7, 0b1111), 0b0111);
        assert_eq!(cache.ask(8, 0b0001), 0);
    }

    #[test]
    fn what_fits_stays_and_what_does_not_goes() {
        let passes = |lines: u64| {
            let mut cache = Cache::new(64 * 128, 128);
            let mut hits = 0;
            for _ in 0..3 {
                for line in 0..lines {
                    hits += u64::from(cache.ask(line, 1));
                }
            }
            hits
        };
        assert_eq!(passes(64), 2 * 64);
        assert_eq!(passes(200), 0);
    }

    #[test]
    fn lines_a_power_of_two_apart_are_spread_over_sets() {
        let mut cache = Cache::new(64 << 10, 128);
        for _ in 0..2 {
            for row in 0..64 {
                cache.ask(row << 8, 1);
            }
        }
        let hits: u8 = (0..64).map(|row| cache.ask(row << 8, 1)).sum();
        assert_eq!(hits, 64);
    }

    #[test]
    fn an_emptied_cache_is_as_a_new_one() {
        let mut emptied = Cache::new(4096, 128);
        let lines = |round: u64| (0..90).map(move |n| (n * n * (round + 3)) % 67);
        for round in 0..GENERATIONS + 5 {
            let mut new = Cache::new(4096, 128);
            for line in lines(round % 11) {
                let sectors = 1 + (line % 15) as u8;
                assert_eq!(emptied.ask(line, sectors), new.ask(line, sectors));
            }
            emptied.empty();
        }
        assert!(emptied.is_of(4096, 128) && !emptied.is_of(8192, 128));
    }

    #[test]
    fn no_cache_has_nothing() {
        let mut cache = Cache::new(0, 128);
        assert_eq!((cache.ask(1, 1), cache.ask(1, 1)), (0, 0));
    }
}
