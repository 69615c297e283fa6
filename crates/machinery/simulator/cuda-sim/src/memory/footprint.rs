//! The sectors of device memory that a launch touches, with coarse time stamps, and the L2 misses that follow
//! from them.
//!
//! A launch is divided into [`EPOCHS`] epochs with equal numbers of blocks. A bit records that a sector was
//! touched in an epoch. Bits are only ever set, so the result does not depend on how blocks are scheduled on
//! host threads. The misses of an L2 cache of any capacity are derived from these bits afterwards.

use std::sync::atomic::{AtomicU64, Ordering};

/// Sectors per 128-byte cache line.
pub const SECTORS: u32 = 4;

/// The number of epochs of a launch: a 64-bit word has one bit per sector of a line and epoch.
pub const EPOCHS: u32 = u64::BITS / SECTORS;

/// The number of lines that share one bit in the summary bitmap.
const CHUNK: usize = 4096;

/// The touched sectors of one allocation, by epoch.
#[derive(Debug)]
pub struct Footprint {
    /// One word per line, with bit `4 * epoch + sector`. The system provides zeroed pages and allocates only
    /// those that are written to.
    words: Box<[AtomicU64]>,
    /// A summary bitmap with one bit per [`CHUNK`] lines that is set if any of them was touched.
    chunks: Box<[AtomicU64]>,
}

/// The sectors of one allocation that a launch reads and writes.
#[derive(Debug)]
pub struct AccessFootprint {
    pub reads: Footprint,
    pub writes: Footprint,
}

impl AccessFootprint {
    /// Creates an empty footprint of an allocation of `bytes` bytes.
    pub fn new(bytes: u64) -> AccessFootprint {
        AccessFootprint {
            reads: Footprint::new(bytes),
            writes: Footprint::new(bytes),
        }
    }

    /// Clears the footprint. Only touched chunks are cleared, which is much faster than allocating new memory.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }
}

/// A shared handle through which host threads set the bits of a [`Footprint`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FootprintHandle {
    words: *const AtomicU64,
    chunks: *const AtomicU64,
}

/// Allocates `count` zero words. The system provides zeroed pages, which take no memory until they are
/// written to.
fn zeros(count: usize) -> Box<[AtomicU64]> {
    let words: Box<[u64]> = vec![0; count].into_boxed_slice();
    // SAFETY: `AtomicU64` has the size and alignment of `u64`, and `words` is the only owner of the allocation.
    unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU64]) }
}

impl Footprint {
    /// Creates an empty footprint of an allocation of `bytes` bytes.
    pub fn new(bytes: u64) -> Footprint {
        let lines = bytes.div_ceil(128) as usize;
        Footprint {
            words: zeros(lines),
            chunks: zeros(lines.div_ceil(CHUNK * 64)),
        }
    }

    fn clear(&mut self) {
        let words = self.words.chunks_mut(CHUNK * 64);
        for (chunks, words) in self.chunks.iter_mut().zip(words) {
            let touched = std::mem::take(chunks.get_mut());
            if touched == 0 {
                continue;
            }
            for (chunk, words) in words.chunks_mut(CHUNK).enumerate() {
                if touched >> chunk & 1 == 1 {
                    words.iter_mut().for_each(|word| *word.get_mut() = 0);
                }
            }
        }
    }

    /// Returns a handle that is valid as long as this footprint lives.
    pub fn handle(&self) -> FootprintHandle {
        FootprintHandle {
            words: self.words.as_ptr(),
            chunks: self.chunks.as_ptr(),
        }
    }
}

impl FootprintHandle {
    /// The offset of the words.
    pub const WORDS: usize = std::mem::offset_of!(FootprintHandle, words);

    /// A handle without a footprint, which must not be touched.
    pub const NONE: FootprintHandle = FootprintHandle {
        words: std::ptr::null(),
        chunks: std::ptr::null(),
    };

    /// Marks `bytes` bytes from `offset` on as touched in `epoch`.
    ///
    /// # Safety
    /// The bytes must be inside the allocation, and its [`Footprint`] must still be alive.
    #[inline(always)]
    pub unsafe fn touch(self, offset: u64, bytes: u64, epoch: u32) {
        let (first, last) = (offset / 32, (offset + bytes - 1) / 32);
        if first == last {
            // SAFETY: the sector is inside the allocation, because the caller guarantees that all bytes are.
            return unsafe { self.mark((first / 4) as usize, 1 << (first % 4), epoch) };
        }
        let mut sector = first;
        while sector <= last {
            let end = last.min(sector | 3);
            let sectors = (2u64 << (end & 3)) - (1 << (sector & 3));
            // SAFETY: these sectors are inside the allocation, because the caller guarantees that all bytes
            // are.
            unsafe { self.mark((sector / 4) as usize, sectors, epoch) };
            sector = end + 1;
        }
    }

    /// Marks the given sectors of a line, as a bit mask, as touched in `epoch`.
    ///
    /// # Safety
    /// The line must be inside the allocation, and its [`Footprint`] must still be alive.
    #[inline(always)]
    unsafe fn mark(self, line: usize, sectors: u64, epoch: u32) {
        let bits = sectors << (SECTORS * epoch);
        // SAFETY: `words` has one word per line of the allocation, and the caller guarantees that `line` is
        // one of them.
        let word = unsafe { &*self.words.add(line) };
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
            let chunk = line / CHUNK;
            // SAFETY: `chunks` has a bit for every chunk of lines of the allocation, so also for the chunk of
            // `line`.
            let chunks = unsafe { &*self.chunks.add(chunk / 64) };
            if chunks.load(Ordering::Relaxed) >> (chunk % 64) & 1 == 0 {
                chunks.fetch_or(1 << (chunk % 64), Ordering::Relaxed);
            }
        }
    }
}

/// The traffic of a launch between device memory and an initially empty L2 cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceTraffic {
    /// Distinct sectors read or written.
    pub footprint: u64,
    /// Sectors read from device memory, because the cache did not contain them.
    pub read: u64,
    /// Sectors written back to device memory.
    pub written: u64,
}

/// Computes the traffic of a launch from the footprints of all allocations, for a cache of `capacity` bytes.
///
/// A sector stays cached within an epoch. Between two epochs it stays cached unless more distinct sectors
/// than the cache holds were touched in the meantime, which models LRU replacement.
pub fn traffic<'a>(
    touched: impl Iterator<Item = &'a AccessFootprint> + Clone,
    capacity: u64,
) -> DeviceTraffic {
    let mut volumes = [0u64; EPOCHS as usize];
    let mut sum = DeviceTraffic::default();
    each_line(touched.clone(), |read, written, lines| {
        let any = read | written;
        let epoch = any.trailing_zeros() / SECTORS;
        if any >> (SECTORS * epoch) < 1 << SECTORS {
            // All accesses fall into one epoch, so nothing can be evicted in between.
            volumes[epoch as usize] += lines * u64::from(any.count_ones());
        } else {
            for (epoch, volume) in volumes.iter_mut().enumerate() {
                let sectors = any >> (SECTORS * epoch as u32) & 0xf;
                *volume += lines * u64::from(sectors.count_ones());
            }
        }
        let (read, written) = (fold(read), fold(written));
        sum.footprint += lines * u64::from((read | written).count_ones());
        // The order of reads and writes within an epoch is unknown: assume that sectors are read before they
        // are written.
        sum.read += lines * u64::from(read.count_ones());
        sum.written += lines * u64::from(written.count_ones());
    });
    let sectors = capacity / 32;
    if sum.footprint <= sectors {
        return sum;
    }
    // `before[e]` is the number of sectors touched up to the middle of epoch `e`.
    let mut before = [0u64; EPOCHS as usize];
    let mut total = 0;
    for (entry, volume) in before.iter_mut().zip(volumes) {
        *entry = total + volume / 2;
        total += volume;
    }
    each_line(touched, |read, written, lines| {
        for sector in 0..SECTORS {
            let (read, written) = (read >> sector & EVERY, written >> sector & EVERY);
            let mut rest = read | written;
            let mut last = None;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                let now = before[(bit / SECTORS) as usize];
                if last.is_some_and(|last| now - last > sectors) {
                    sum.read += lines * (read >> bit & 1);
                    sum.written += lines * (written >> bit & 1);
                }
                last = Some(now);
                rest &= rest - 1;
            }
        }
    });
    sum
}

/// The bits of a line's first sector in all epochs.
const EVERY: u64 = 0x1111_1111_1111_1111;

/// Returns the sectors of a line that were touched in any epoch, as a 4-bit mask.
fn fold(word: u64) -> u64 {
    let word = word | word >> 32;
    let word = word | word >> 16;
    let word = word | word >> 8;
    (word | word >> 4) & 0xf
}

/// Calls `line` with the read bits, the written bits and the length of each run of lines with equal bits,
/// because most launches treat long ranges alike.
fn each_line<'a>(
    touched: impl Iterator<Item = &'a AccessFootprint>,
    mut line: impl FnMut(u64, u64, u64),
) {
    for AccessFootprint { reads, writes } in touched {
        let get = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let chunks = reads.chunks.iter().zip(&writes.chunks).enumerate();
        let touched = chunks.flat_map(|(word, (read, written))| {
            let touched = get(read) | get(written);
            let bits = (0..u64::BITS as usize).filter(move |bit| touched >> bit & 1 == 1);
            // In a large allocation most summary words are zero.
            let bits = (touched != 0).then_some(bits).into_iter().flatten();
            bits.map(move |bit| word * u64::BITS as usize + bit)
        });
        for chunk in touched {
            let of = |words: &'a [AtomicU64]| {
                let from = chunk * CHUNK;
                &words[from..words.len().min(from + CHUNK)]
            };
            let (mut read, mut written) = (of(&reads.words), of(&writes.words));
            while let (Some(r), Some(w)) = (read.first().map(get), written.first().map(get)) {
                let lines = read.iter().zip(written);
                let run = lines.take_while(|line| get(line.0) == r && get(line.1) == w);
                let count = run.count();
                if r | w != 0 {
                    line(r, w, count as u64);
                }
                (read, written) = (&read[count..], &written[count..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a footprint from `(first sector, sectors, epoch)` triples.
    fn footprint(touches: &[(u64, u64, u32)]) -> Footprint {
        let footprint = Footprint::new(1 << 20);
        let handle = footprint.handle();
        for &(first, sectors, epoch) in touches {
            // SAFETY: the footprint has 1 MiB, or 32,768 sectors, and no test touches sectors beyond that.
            unsafe { handle.touch(first * 32, sectors * 32, epoch) };
        }
        footprint
    }

    type Touches<'a> = &'a [(u64, u64, u32)];

    fn traffic_of(reads: Touches, writes: Touches, sectors: u64) -> DeviceTraffic {
        let (reads, writes) = (footprint(reads), footprint(writes));
        let touched = AccessFootprint { reads, writes };
        traffic(std::iter::once(&touched), sectors * 32)
    }

    #[test]
    fn cached_sectors_are_read_once() {
        let actual = traffic_of(&[(0, 100, 0), (50, 100, 0), (0, 150, 7)], &[], 150);
        assert_eq!((actual.footprint, actual.read), (150, 150));
        assert_eq!(actual.written, 0);
    }

    #[test]
    fn evicted_sectors_are_read_again() {
        // 1000 sectors in each of three epochs, with a capacity of 500.
        let actual = traffic_of(&[(0, 1000, 0), (0, 1000, 1), (0, 1000, 2)], &[], 500);
        assert_eq!((actual.footprint, actual.read), (1000, 3000));
        // With a capacity of 1000 each sector misses once.
        let actual = traffic_of(&[(0, 1000, 0), (0, 1000, 1), (0, 1000, 2)], &[], 1000);
        assert_eq!(actual.read, 1000);
    }

    #[test]
    fn short_reuse_distances_hit_in_a_small_cache() {
        let mut touches = vec![];
        for epoch in 0..EPOCHS {
            touches.push((u64::from(epoch) * 100, 200, epoch));
        }
        // Each epoch finds half of its 200 sectors still cached from the previous one.
        let actual = traffic_of(&touches, &[], 400);
        assert_eq!((actual.footprint, actual.read), (1700, 1700));
    }

    #[test]
    fn cached_writes_are_written_back_once() {
        let actual = traffic_of(&[(0, 10, 0)], &[(0, 20, 0), (0, 20, 3)], 1000);
        assert_eq!((actual.footprint, actual.read), (20, 10));
        assert_eq!(actual.written, 20);
    }

    #[test]
    fn cleared_footprints_are_empty() {
        let touched = [(0, 10, 0), (20_000, 5, 3), (32_767, 1, 15)];
        let (reads, writes) = (footprint(&touched), footprint(&touched));
        let mut touched = AccessFootprint { reads, writes };
        assert_eq!(traffic(std::iter::once(&touched), 0).footprint, 16);
        touched.clear();
        let cleared = traffic(std::iter::once(&touched), 0);
        assert_eq!(cleared, DeviceTraffic::default());
        let mut words = touched.reads.words.iter_mut();
        assert!(words.all(|word| *word.get_mut() == 0));
    }

    #[test]
    fn partial_accesses_touch_whole_sectors() {
        let footprint = Footprint::new(1000);
        // SAFETY: bytes 31 and 32 are inside the 1000 bytes of the allocation.
        unsafe { footprint.handle().touch(31, 2, 2) };
        // SAFETY: byte 999 is the last of the 1000 bytes of the allocation.
        unsafe { footprint.handle().touch(999, 1, 3) };
        let words = |words: Box<[AtomicU64]>| -> Vec<u64> {
            words.into_iter().map(AtomicU64::into_inner).collect()
        };
        assert_eq!(words(footprint.chunks), [1]);
        let expected = [0b11 << 8, 0, 0, 0, 0, 0, 0, 0b1000 << 12];
        assert_eq!(words(footprint.words), expected);
    }
}
