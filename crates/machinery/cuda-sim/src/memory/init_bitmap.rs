//! Which bytes of a memory have been written: a bit each.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Calls `each` with the number of every word that has bits of the `bytes` bytes from `at` on, and
/// with a mask of those bits.
#[inline(always)]
fn words(at: u64, bytes: u64, mut each: impl FnMut(usize, u64)) {
    let end = at + bytes;
    let mut from = at;
    while from < end {
        let to = end.min((from | 63) + 1);
        let bits = (u64::MAX >> (64 - (to - from))) << (from & 63);
        each((from >> 6) as usize, bits);
        from = to;
    }
}

/// Which bytes of a block's shared memory have been written. One host thread alone uses it.
pub struct Bits {
    words: Vec<u64>,
    bytes: u64,
    /// How many bytes are not written.
    missing: u64,
}

impl Bits {
    /// For a memory of `bytes` bytes, none of which is written.
    pub fn new(bytes: u64) -> Bits {
        Bits {
            words: vec![0; bytes.div_ceil(64) as usize],
            bytes,
            missing: bytes,
        }
    }

    /// From now on no byte counts as written.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.missing = self.bytes;
    }

    /// Notes that `bytes` bytes from `at` on are written. All are inside the memory.
    #[inline(always)]
    pub fn set(&mut self, at: u64, bytes: u64) {
        if self.missing == 0 {
            return;
        }
        words(at, bytes, |word, bits| {
            let new = bits & !self.words[word];
            self.words[word] |= new;
            self.missing -= u64::from(new.count_ones());
        });
    }

    /// Whether all of the `bytes` bytes from `at` on are written. All are inside the memory.
    #[inline(always)]
    pub fn has(&self, at: u64, bytes: u64) -> bool {
        if self.missing == 0 {
            return true;
        }
        let mut missing = 0;
        words(at, bytes, |word, bits| missing |= bits & !self.words[word]);
        missing == 0
    }
}

/// Which bytes of an allocation of device memory have been written. Several host threads use it at
/// the same time.
#[derive(Debug)]
pub struct Written(Box<[AtomicU64]>);

impl Written {
    /// For a memory of `bytes` bytes, none of which is written.
    pub fn new(bytes: u64) -> Written {
        let count = bytes.div_ceil(64) as usize;
        let zeros: Box<[u64]> = vec![0; count].into_boxed_slice();
        // SAFETY: an atomic integer is laid out as the integer is, and the words are nobody else's.
        Written(unsafe { Box::from_raw(Box::into_raw(zeros) as *mut [AtomicU64]) })
    }

    /// Notes that `bytes` bytes from `at` on are written. All are inside the memory.
    #[inline(always)]
    pub fn set(&self, at: u64, bytes: u64) {
        words(at, bytes, |word, bits| {
            if self.0[word].load(Relaxed) & bits != bits {
                self.0[word].fetch_or(bits, Relaxed);
            }
        });
    }

    /// Whether all of the `bytes` bytes from `at` on are written. All are inside the memory.
    #[inline(always)]
    pub fn has(&self, at: u64, bytes: u64) -> bool {
        let mut missing = 0;
        words(at, bytes, |word, bits| {
            missing |= bits & !self.0[word].load(Relaxed)
        });
        missing == 0
    }

    /// Whether all of the first `bytes` bytes are written.
    pub fn has_all(&self, bytes: u64) -> bool {
        let whole = (bytes / 64) as usize;
        let last = bytes % 64;
        let all = |word: &AtomicU64| word.load(Relaxed) == u64::MAX;
        self.0[..whole].iter().all(all) && (last == 0 || self.has(bytes - last, last))
    }

    /// `bytes` bytes from `to` on are written where those of `from` are, from `from_at` on, and
    /// count as not written elsewhere.
    pub fn copy(&self, to: u64, from: &Written, from_at: u64, bytes: u64) {
        // The two may overlap: what is copied is read first.
        let found: Vec<u64> = (0..bytes.div_ceil(64))
            .map(|word| from.word(from_at + word * 64))
            .collect();
        for (nth, word) in (0u64..).zip(found) {
            let count = (bytes - nth * 64).min(64);
            let all = u64::MAX >> (64 - count);
            let at = to + nth * 64;
            let (first, shift) = ((at >> 6) as usize, at & 63);
            self.replace(first, all << shift, word << shift);
            if shift > 0 && all >> (64 - shift) != 0 {
                self.replace(first + 1, all >> (64 - shift), word >> (64 - shift));
            }
        }
    }

    /// The bits of 64 bytes from `at` on; those past the end are not written.
    fn word(&self, at: u64) -> u64 {
        let get = |word: u64| {
            self.0
                .get(word as usize)
                .map_or(0, |word| word.load(Relaxed))
        };
        let (first, shift) = (at >> 6, at & 63);
        match shift {
            0 => get(first),
            _ => get(first) >> shift | get(first + 1) << (64 - shift),
        }
    }

    /// Puts the bits of `bits` that are in `mask` into a word; its others stay.
    fn replace(&self, word: usize, mask: u64, bits: u64) {
        let old = self.0[word].load(Relaxed);
        self.0[word].store(old & !mask | bits & mask, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_one_by_one() {
        let (mut bits, written) = (Bits::new(300), Written::new(300));
        for (at, bytes) in [(0, 4), (60, 8), (100, 130), (299, 1)] {
            bits.set(at, bytes);
            written.set(at, bytes);
            for (has, place) in [
                (true, (at, bytes)),
                (false, (at, bytes + 1)),
                (false, (at.max(1) - 1, bytes + 1)),
            ] {
                let (at, bytes) = place;
                if at + bytes <= 300 && (has || at > 0) {
                    assert_eq!(bits.has(at, bytes), has, "{place:?}");
                    assert_eq!(written.has(at, bytes), has, "{place:?}");
                }
            }
        }
        bits.clear();
        assert!((0..300).all(|at| !bits.has(at, 1)));
    }

    #[test]
    fn it_is_known_when_all_is_written() {
        for count in [1, 63, 64, 65, 128, 300] {
            let (mut bits, written) = (Bits::new(count), Written::new(count));
            for round in 0..2 {
                for at in 0..count {
                    assert_eq!(written.has_all(count), round > 0, "{at} of {count}");
                    assert_eq!(bits.has(0, count), round > 0, "{at} of {count}");
                    bits.set(at, 1);
                    written.set(at, 1);
                }
            }
            assert!(written.has_all(count) && bits.has(0, count));
            bits.clear();
            assert!(!bits.has(0, count));
            written.copy(count - 1, &Written::new(1), 0, 1);
            assert!(!written.has_all(count));
        }
    }

    #[test]
    fn a_copy_takes_along_what_is_written_and_what_is_not() {
        for (from_at, to, bytes) in [
            (0, 0, 300),
            (3, 64, 100),
            (7, 5, 64),
            (1, 130, 163),
            (64, 1, 1),
            (9, 63, 128),
        ] {
            let (from, other) = (Written::new(300), Written::new(300));
            for at in (0..300).filter(|at| at % 3 == 0 || at % 7 == 2) {
                from.set(at, 1);
            }
            other.set(0, 300);
            other.copy(to, &from, from_at, bytes);
            for at in 0..300 {
                let wanted = if at >= to && at < to + bytes {
                    from.has(from_at + at - to, 1)
                } else {
                    true
                };
                assert_eq!(
                    other.has(at, 1),
                    wanted,
                    "byte {at} of {from_at} {to} {bytes}"
                );
            }
        }
        let one = Written::new(200);
        one.set(0, 100);
        one.copy(50, &one, 0, 150);
        assert!(one.has(0, 150) && !one.has(150, 1));
    }
}
