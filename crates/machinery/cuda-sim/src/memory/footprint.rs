//! Which sectors of device memory a launch touches, and roughly when.
//!
//! A launch is cut into [`EPOCHS`] of as many blocks each. A bit tells that a sector was touched in
//! an epoch; bits are only ever set, so the result does not depend on which host thread ran what,
//! or when. From it follows what an L2 cache of a given size would have missed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Sectors of a line of 128 bytes.
const SECTORS: u32 = 4;

/// How many parts a launch is cut into: a word has a bit for each sector of a line in each of them.
pub const EPOCHS: u32 = u64::BITS / SECTORS;

/// How many lines share one bit that tells whether any of them was touched.
const CHUNK: usize = 4096;

/// The sectors of one allocation that were touched, and when.
#[derive(Debug)]
pub struct Footprint {
    /// One word a line: bit `4 * epoch + sector`. The system gives zeroed pages, and takes memory
    /// for those alone that are written to.
    words: Box<[AtomicU64]>,
    /// One bit for every [`CHUNK`] lines: whether any of them was touched.
    chunks: Box<[AtomicU64]>,
}

/// What a launch touches of one allocation.
#[derive(Debug)]
pub struct Touched {
    pub reads: Footprint,
    pub writes: Footprint,
}

impl Touched {
    /// For an allocation of `bytes` bytes, with nothing touched yet.
    pub fn new(bytes: u64) -> Touched {
        Touched {
            reads: Footprint::new(bytes),
            writes: Footprint::new(bytes),
        }
    }

    /// Forgets what was touched. That is much quicker than memory fresh from the system.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }
}

/// A [`Footprint`] as the accesses see it, on whatever thread.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    words: *const AtomicU64,
    chunks: *const AtomicU64,
}

/// `count` words that are 0. The system gives them zeroed: they take no memory until written to.
fn zeros(count: usize) -> Box<[AtomicU64]> {
    let words: Box<[u64]> = vec![0; count].into_boxed_slice();
    // SAFETY: an atomic integer is laid out as the integer is, and the words are nobody else's.
    unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU64]) }
}

impl Footprint {
    /// Nothing touched yet, in an allocation of `bytes` bytes.
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

    /// What [`Marks::touch`] is called on, as long as this footprint lives.
    pub fn marks(&self) -> Marks {
        Marks {
            words: self.words.as_ptr(),
            chunks: self.chunks.as_ptr(),
        }
    }
}

impl Marks {
    /// Belongs to no allocation: nothing may be touched through it.
    pub const NONE: Marks = Marks {
        words: std::ptr::null(),
        chunks: std::ptr::null(),
    };

    /// `bytes` bytes from `offset` on were touched in `epoch`.
    ///
    /// # Safety
    /// They are inside the allocation, whose [`Footprint`] still lives.
    #[inline(always)]
    pub unsafe fn touch(self, offset: u64, bytes: u64, epoch: u32) {
        let (first, last) = (offset / 32, (offset + bytes - 1) / 32);
        if first == last {
            // SAFETY: the caller's promise.
            return unsafe { self.mark((first / 4) as usize, 1 << (first % 4), epoch) };
        }
        let mut sector = first;
        while sector <= last {
            let end = last.min(sector | 3);
            let sectors = (2u64 << (end & 3)) - (1 << (sector & 3));
            // SAFETY: the caller's promise.
            unsafe { self.mark((sector / 4) as usize, sectors, epoch) };
            sector = end + 1;
        }
    }

    /// Sectors of a line, a bit each, were touched in `epoch`.
    ///
    /// # Safety
    /// As for [`Marks::touch`].
    #[inline(always)]
    unsafe fn mark(self, line: usize, sectors: u64, epoch: u32) {
        let bits = sectors << (SECTORS * epoch);
        // SAFETY: the line is inside the allocation.
        let word = unsafe { &*self.words.add(line) };
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
            let chunk = line / CHUNK;
            // SAFETY: there is a bit for every chunk of the allocation.
            let chunks = unsafe { &*self.chunks.add(chunk / 64) };
            if chunks.load(Ordering::Relaxed) >> (chunk % 64) & 1 == 0 {
                chunks.fetch_or(1 << (chunk % 64), Ordering::Relaxed);
            }
        }
    }
}

/// What a launch moved between device memory and an L2 cache that was empty before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceTraffic {
    /// Distinct sectors that were read or written.
    pub footprint: u64,
    /// Sectors read that the cache did not have.
    pub read: u64,
    /// Sectors written back.
    pub written: u64,
}

/// The traffic of a launch with these reads and writes, each a footprint an allocation, and a cache
/// of `capacity` bytes.
///
/// Within an epoch a sector stays in the cache. From one to a later one it stays unless more than
/// the cache holds was touched in between: the least recently used goes first.
pub fn traffic<'a>(
    touched: impl Iterator<Item = &'a Touched> + Clone,
    capacity: u64,
) -> DeviceTraffic {
    let mut volumes = [0u64; EPOCHS as usize];
    let mut sum = DeviceTraffic::default();
    each_line(touched.clone(), |read, written, lines| {
        let any = read | written;
        let epoch = any.trailing_zeros() / SECTORS;
        if any >> (SECTORS * epoch) < 1 << SECTORS {
            // One epoch alone: there is nothing to forget.
            volumes[epoch as usize] += lines * u64::from(any.count_ones());
        } else {
            for (epoch, volume) in volumes.iter_mut().enumerate() {
                let sectors = any >> (SECTORS * epoch as u32) & 0xf;
                *volume += lines * u64::from(sectors.count_ones());
            }
        }
        let (read, written) = (fold(read), fold(written));
        sum.footprint += lines * u64::from((read | written).count_ones());
        // Which of the two came first is not known: what is written is taken to be read before.
        sum.read += lines * u64::from(read.count_ones());
        sum.written += lines * u64::from(written.count_ones());
    });
    let sectors = capacity / 32;
    if sum.footprint <= sectors {
        return sum;
    }
    // Before[e]: sectors touched up to the middle of epoch e.
    let mut before = [0u64; EPOCHS as usize];
    let mut total = 0;
    for (place, volume) in before.iter_mut().zip(volumes) {
        *place = total + volume / 2;
        total += volume;
    }
    each_line(touched, |read, written, lines| {
        for sector in 0..SECTORS {
            let (read, written) = (read >> sector & EVERY, written >> sector & EVERY);
            let mut rest = read | written;
            let mut last = None;
            while rest != 0 {
                let place = rest.trailing_zeros();
                let now = before[(place / SECTORS) as usize];
                if last.is_some_and(|last| now - last > sectors) {
                    sum.read += lines * (read >> place & 1);
                    sum.written += lines * (written >> place & 1);
                }
                last = Some(now);
                rest &= rest - 1;
            }
        }
    });
    sum
}

/// The bits of a line's first sector, one for every epoch.
const EVERY: u64 = 0x1111_1111_1111_1111;

/// The sectors of a line that were touched in any epoch, as four bits.
fn fold(word: u64) -> u64 {
    let word = word | word >> 32;
    let word = word | word >> 16;
    let word = word | word >> 8;
    (word | word >> 4) & 0xf
}

/// Calls `line` with what was read and written of a line, and of how many lines in a row that is
/// so: most launches treat long stretches alike.
fn each_line<'a>(touched: impl Iterator<Item = &'a Touched>, mut line: impl FnMut(u64, u64, u64)) {
    for Touched { reads, writes } in touched {
        let get = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let chunks = reads.chunks.iter().zip(&writes.chunks).enumerate();
        let touched = chunks.flat_map(|(word, (read, written))| {
            let touched = get(read) | get(written);
            let bits = (0..u64::BITS as usize).filter(move |bit| touched >> bit & 1 == 1);
            // Most words are none of it, of a large allocation.
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
                let alike = lines.take_while(|line| get(line.0) == r && get(line.1) == w);
                let count = alike.count();
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

    /// Touches `(first sector, sectors, epoch)`.
    fn footprint(touches: &[(u64, u64, u32)]) -> Footprint {
        let made = Footprint::new(1 << 20);
        let marks = made.marks();
        for &(first, sectors, epoch) in touches {
            // SAFETY: a megabyte has 32768 sectors.
            unsafe { marks.touch(first * 32, sectors * 32, epoch) };
        }
        made
    }

    fn traffic_of(
        reads: &[(u64, u64, u32)],
        writes: &[(u64, u64, u32)],
        sectors: u64,
    ) -> DeviceTraffic {
        let (reads, writes) = (footprint(reads), footprint(writes));
        traffic(std::iter::once(&Touched { reads, writes }), sectors * 32)
    }

    #[test]
    fn a_sector_counts_once_while_the_cache_keeps_it() {
        let found = traffic_of(&[(0, 100, 0), (50, 100, 0), (0, 150, 7)], &[], 150);
        assert_eq!((found.footprint, found.read, found.written), (150, 150, 0));
    }

    #[test]
    fn what_was_pushed_out_is_read_again() {
        // 1000 sectors over and over, with room for 500.
        let found = traffic_of(&[(0, 1000, 0), (0, 1000, 1), (0, 1000, 2)], &[], 500);
        assert_eq!((found.footprint, found.read), (1000, 3000));
        // With room for all there is one miss each.
        let found = traffic_of(&[(0, 1000, 0), (0, 1000, 1), (0, 1000, 2)], &[], 1000);
        assert_eq!(found.read, 1000);
    }

    #[test]
    fn a_short_way_back_is_a_hit_though_not_all_fits() {
        let mut touches = vec![];
        for epoch in 0..EPOCHS {
            touches.push((u64::from(epoch) * 100, 200, epoch));
        }
        // Each epoch finds half of its 200 sectors where the one before left them.
        let found = traffic_of(&touches, &[], 400);
        assert_eq!((found.footprint, found.read), (1700, 1700));
    }

    #[test]
    fn writes_go_back_once_while_they_stay() {
        let found = traffic_of(&[(0, 10, 0)], &[(0, 20, 0), (0, 20, 3)], 1000);
        assert_eq!((found.footprint, found.read, found.written), (20, 10, 20));
    }

    #[test]
    fn what_is_cleared_was_not_touched() {
        let touched = [(0, 10, 0), (20_000, 5, 3), (32_767, 1, 15)];
        let (reads, writes) = (footprint(&touched), footprint(&touched));
        let mut touched = Touched { reads, writes };
        assert_eq!(traffic(std::iter::once(&touched), 0).footprint, 16);
        touched.clear();
        assert_eq!(
            traffic(std::iter::once(&touched), 0),
            DeviceTraffic::default()
        );
        assert!(
            touched
                .reads
                .words
                .iter_mut()
                .all(|word| *word.get_mut() == 0)
        );
    }

    #[test]
    fn parts_of_sectors_and_lines_are_touched_whole() {
        let made = Footprint::new(1000);
        // SAFETY: 1000 bytes.
        unsafe { made.marks().touch(31, 2, 2) };
        // SAFETY: 1000 bytes.
        unsafe { made.marks().touch(999, 1, 3) };
        let words = |words: Box<[AtomicU64]>| -> Vec<u64> {
            words.into_iter().map(AtomicU64::into_inner).collect()
        };
        assert_eq!(words(made.chunks), [1]);
        assert_eq!(
            words(made.words),
            [0b11 << 8, 0, 0, 0, 0, 0, 0, 0b1000 << 12]
        );
    }
}
