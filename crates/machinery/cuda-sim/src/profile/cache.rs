//! A cache: lines of sectors, a few ways a set, the least recently used line goes first.

/// Ways of a set.
const WAYS: usize = 8;

/// Which lines are in a cache, and which of their sectors.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: u64,
    lines: Vec<Line>,
    clock: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// The line's number, plus one; zero where there is none.
    tag: u64,
    /// A bit for each of its sectors that is there.
    sectors: u8,
    /// When it was used last.
    used: u64,
}

impl Cache {
    /// An empty cache of at most `bytes` bytes, in lines of `line` bytes. One of no bytes at all
    /// never has anything.
    pub fn new(bytes: u64, line: u64) -> Cache {
        let sets = (bytes / line) / WAYS as u64;
        Cache {
            sets,
            lines: vec![Line::default(); sets as usize * WAYS],
            clock: 0,
        }
    }

    /// Asks for `sectors`, a bit each, of line number `line`: answers those that are there. All of
    /// them are there from then on.
    pub fn ask(&mut self, line: u64, sectors: u8) -> u8 {
        if self.sets == 0 {
            return 0;
        }
        self.clock += 1;
        // Lines a power of two apart share no set: hardware mixes addresses as well.
        let set = (line ^ (line >> 7) ^ (line >> 15)) % self.sets;
        let ways = &mut self.lines[set as usize * WAYS..][..WAYS];
        if let Some(found) = ways.iter_mut().find(|way| way.tag == line + 1) {
            let there = found.sectors & sectors;
            found.sectors |= sectors;
            found.used = self.clock;
            return there;
        }
        if let Some(oldest) = ways.iter_mut().min_by_key(|way| way.used) {
            *oldest = Line {
                tag: line + 1,
                sectors,
                used: self.clock,
            };
        }
        0
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
    fn no_cache_has_nothing() {
        let mut cache = Cache::new(0, 128);
        assert_eq!((cache.ask(1, 1), cache.ask(1, 1)), (0, 0));
    }
}
