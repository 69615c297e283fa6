//! Bitmaps of initialized memory: one bit per byte that is set once the byte has been written.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Calls `f` for every bitmap word that covers some of the `bytes` bytes from `at` on, with the word's
/// index and the mask of the covered bits.
#[inline(always)]
fn words(at: u64, bytes: u64, mut f: impl FnMut(usize, u64)) {
    let end = at + bytes;
    let mut from = at;
    while from < end {
        let to = end.min((from | 63) + 1);
        let bits = (u64::MAX >> (64 - (to - from))) << (from & 63);
        f((from >> 6) as usize, bits);
        from = to;
    }
}

/// The initialized bytes of a block's shared memory. Used by one host thread only.
pub struct InitBitmap {
    words: Vec<u64>,
    bytes: u64,
    /// The number of uninitialized bytes.
    uninitialized_bytes: u64,
}

impl InitBitmap {
    /// Creates the bitmap of `bytes` bytes, all uninitialized.
    pub fn new(bytes: u64) -> InitBitmap {
        InitBitmap {
            words: vec![0; bytes.div_ceil(64) as usize],
            bytes,
            uninitialized_bytes: bytes,
        }
    }

    /// Marks all bytes as uninitialized.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.uninitialized_bytes = self.bytes;
    }

    /// Marks `bytes` bytes from `at` on as initialized. All of them must be inside the memory.
    #[inline(always)]
    pub fn set(&mut self, at: u64, bytes: u64) {
        if self.uninitialized_bytes == 0 {
            return;
        }
        words(at, bytes, |word, bits| {
            let new = bits & !self.words[word];
            self.words[word] |= new;
            self.uninitialized_bytes -= u64::from(new.count_ones());
        });
    }

    /// Marks the byte at `at` as uninitialized.
    pub fn unset(&mut self, at: u64) {
        let (word, bit) = ((at >> 6) as usize, 1 << (at & 63));
        if self.words[word] & bit != 0 {
            self.words[word] &= !bit;
            self.uninitialized_bytes += 1;
        }
    }

    /// Returns true if all `bytes` bytes from `at` on are initialized. All of them must be inside the memory.
    #[inline(always)]
    pub fn is_initialized(&self, at: u64, bytes: u64) -> bool {
        if self.uninitialized_bytes == 0 {
            return true;
        }
        let mut uninitialized = 0;
        words(at, bytes, |word, bits| {
            uninitialized |= bits & !self.words[word]
        });
        uninitialized == 0
    }
}

/// The initialized bytes of an allocation of device memory. Used by several host threads concurrently.
#[derive(Debug)]
pub struct AtomicInitBitmap(Box<[AtomicU64]>);

impl AtomicInitBitmap {
    /// Creates the bitmap of `bytes` bytes, all uninitialized.
    pub fn new(bytes: u64) -> AtomicInitBitmap {
        let count = bytes.div_ceil(64) as usize;
        let zeros: Box<[u64]> = vec![0; count].into_boxed_slice();
        // SAFETY: `AtomicU64` has the size and alignment of `u64`, and `zeros` is the only owner of the
        // allocation.
        AtomicInitBitmap(unsafe { Box::from_raw(Box::into_raw(zeros) as *mut [AtomicU64]) })
    }

    /// Marks `bytes` bytes from `at` on as initialized. All of them must be inside the memory.
    #[inline(always)]
    pub fn set(&self, at: u64, bytes: u64) {
        words(at, bytes, |word, bits| {
            if bits == u64::MAX {
                // No bit of another thread can be lost, and a store is much faster than an atomic.
                self.0[word].store(bits, Relaxed);
            } else if self.0[word].load(Relaxed) & bits != bits {
                self.0[word].fetch_or(bits, Relaxed);
            }
        });
    }

    /// Returns true if all `bytes` bytes from `at` on are initialized. All of them must be inside the memory.
    #[inline(always)]
    pub fn is_initialized(&self, at: u64, bytes: u64) -> bool {
        let mut uninitialized = 0;
        words(at, bytes, |word, bits| {
            uninitialized |= bits & !self.0[word].load(Relaxed)
        });
        uninitialized == 0
    }

    /// Marks the byte at `at` as uninitialized.
    pub fn unset(&self, at: u64) {
        self.0[(at >> 6) as usize].fetch_and(!(1 << (at & 63)), Relaxed);
    }

    /// Returns the number of initialized bytes before the first uninitialized one of the first `bytes` bytes.
    pub fn initialized_prefix(&self, bytes: u64) -> u64 {
        self.find(0, bytes, false)
    }

    /// Returns the offset after the last initialized byte; 0 if there is none.
    pub fn initialized_end(&self) -> u64 {
        let last = self.0.iter().rposition(|word| word.load(Relaxed) != 0);
        last.map_or(0, |word| {
            64 * (word as u64 + 1) - u64::from(self.0[word].load(Relaxed).leading_zeros())
        })
    }

    /// Returns the ranges of uninitialized bytes between two offsets, as start and end.
    pub fn gaps(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        self.runs(from, to, false)
    }

    /// Returns the ranges of initialized bytes in ascending order, `max` at most.
    pub fn ranges(&self, max: usize) -> Vec<Range<u64>> {
        let runs = self.runs(0, 64 * self.0.len() as u64, true);
        runs.take(max).map(|(from, to)| from..to).collect()
    }

    /// Returns the ranges of bytes between two offsets that are initialized, or not initialized, as start and end.
    fn runs(&self, from: u64, to: u64, initialized: bool) -> impl Iterator<Item = (u64, u64)> {
        let mut at = from;
        std::iter::from_fn(move || {
            let start = self.find(at, to, initialized);
            at = self.find(start, to, !initialized);
            (start < to).then_some((start, at))
        })
    }

    /// Returns the offset of the first byte from `from` on that is initialized, or not initialized; `to` if there is
    /// none before it.
    fn find(&self, from: u64, to: u64, initialized: bool) -> u64 {
        let mut at = from;
        while at < to {
            let word = self.word(at);
            let other = if initialized { !word } else { word };
            match other.trailing_ones() {
                64 => at += 64,
                skipped => return (at + u64::from(skipped)).min(to),
            }
        }
        to
    }

    /// Copies the state of `bytes` bytes of `from` at `from_at` to `to`, as a copy of the memory itself does.
    pub fn copy(&self, to: u64, from: &AtomicInitBitmap, from_at: u64, bytes: u64) {
        // The ranges may overlap, so read all source words first.
        let source: Vec<u64> = (0..bytes.div_ceil(64))
            .map(|word| from.word(from_at + word * 64))
            .collect();
        for (nth, word) in (0u64..).zip(source) {
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

    /// Returns the bits of the 64 bytes from `at` on; bytes past the end are uninitialized.
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

    /// Replaces the bits of a word that are in `mask` by those of `bits`.
    fn replace(&self, word: usize, mask: u64, bits: u64) {
        let old = self.0[word].load(Relaxed);
        self.0[word].store(old & !mask | bits & mask, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_tracked_individually() {
        let (mut bits, written) = (InitBitmap::new(300), AtomicInitBitmap::new(300));
        for (at, bytes) in [(0, 4), (60, 8), (100, 130), (299, 1)] {
            bits.set(at, bytes);
            written.set(at, bytes);
            for (is_initialized, range) in [
                (true, (at, bytes)),
                (false, (at, bytes + 1)),
                (false, (at.max(1) - 1, bytes + 1)),
            ] {
                let (at, bytes) = range;
                if at + bytes <= 300 && (is_initialized || at > 0) {
                    assert_eq!(bits.is_initialized(at, bytes), is_initialized, "{range:?}");
                    assert_eq!(
                        written.is_initialized(at, bytes),
                        is_initialized,
                        "{range:?}"
                    );
                }
            }
        }
        bits.clear();
        assert!((0..300).all(|at| !bits.is_initialized(at, 1)));
    }

    #[test]
    fn full_initialization_is_detected() {
        for count in [1, 63, 64, 65, 128, 300] {
            let (mut bits, written) = (InitBitmap::new(count), AtomicInitBitmap::new(count));
            for round in 0..2 {
                for at in 0..count {
                    let prefix = if round == 0 { at } else { count };
                    assert_eq!(written.initialized_prefix(count), prefix);
                    assert_eq!(written.initialized_end(), prefix);
                    bits.set(at, 1);
                    written.set(at, 1);
                }
            }
            assert_eq!(written.initialized_prefix(count), count);
            assert!(bits.is_initialized(0, count));
            bits.clear();
            assert!(!bits.is_initialized(0, count));
            written.copy(count - 1, &AtomicInitBitmap::new(1), 0, 1);
            assert_eq!(written.initialized_prefix(count), count - 1);
        }
    }

    #[test]
    fn copies_preserve_initialization() {
        for (from_at, to, bytes) in [
            (0, 0, 300),
            (3, 64, 100),
            (7, 5, 64),
            (1, 130, 163),
            (64, 1, 1),
            (9, 63, 128),
        ] {
            let (from, other) = (AtomicInitBitmap::new(300), AtomicInitBitmap::new(300));
            for at in (0..300).filter(|at| at % 3 == 0 || at % 7 == 2) {
                from.set(at, 1);
            }
            other.set(0, 300);
            other.copy(to, &from, from_at, bytes);
            for at in 0..300 {
                let expected = if at >= to && at < to + bytes {
                    from.is_initialized(from_at + at - to, 1)
                } else {
                    true
                };
                assert_eq!(
                    other.is_initialized(at, 1),
                    expected,
                    "byte {at} of {from_at} {to} {bytes}"
                );
            }
        }
        let bitmap = AtomicInitBitmap::new(200);
        bitmap.set(0, 100);
        bitmap.copy(50, &bitmap, 0, 150);
        assert!(bitmap.is_initialized(0, 150) && !bitmap.is_initialized(150, 1));
    }
}
