//! The parts of an access: the thread and instruction that perform it, and the runs of adjacent lanes with uniform
//! or contiguous addresses.

use crate::lanes::{LANES, LANES_PER_QUARTER, active, quarters};

/// The number of low bits that hold the instruction's address. The bits above hold the thread's index.
pub const SITE_BITS: u32 = 22;

/// A thread of the block and the instruction it executed, packed into one word. From the highest bits: the
/// warp, the lane, and the instruction's address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Accessor(pub u32);

impl Accessor {
    #[inline(always)]
    pub fn new(warp: usize, lane: usize, site: u32) -> Accessor {
        Accessor(((warp as u32) << 5 | lane as u32) << SITE_BITS | site & ((1 << SITE_BITS) - 1))
    }

    /// Returns the thread's index in the block.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        self.0 >> SITE_BITS
    }

    #[inline(always)]
    pub fn warp(self) -> usize {
        (self.thread() >> 5) as usize
    }

    #[inline(always)]
    pub fn lane(self) -> usize {
        (self.thread() & 31) as usize
    }

    /// Returns the low [`SITE_BITS`] bits of the instruction's address.
    pub fn site(self) -> u32 {
        self.0 & ((1 << SITE_BITS) - 1)
    }
}

/// The values that a store writes. Called only for stores.
pub trait StoredValues {
    /// Returns the bytes that a lane stores, padded with zeros.
    fn bytes(&self, lane: usize) -> [u8; 16];

    /// Returns the bytes that a lane stores from byte `at` on, at most 4, as a number.
    #[inline(always)]
    fn word(&self, lane: usize, at: usize) -> u32 {
        word_of(&self.bytes(lane), at)
    }

    /// Returns all lanes' values if each stores one element of 4 bytes from a register.
    #[inline(always)]
    fn words(&self) -> Option<&[u32; LANES]> {
        None
    }

    /// Returns true if all lanes of a mask store the same value.
    #[inline(always)]
    fn is_uniform(&self, mask: u32) -> bool {
        let mut values = active(mask).map(|lane| self.bytes(lane));
        let first = values.next();
        values.all(|value| Some(value) == first)
    }
}

/// Returns up to 4 bytes from byte `at` on as a number.
pub fn word_of(bytes: &[u8; 16], at: usize) -> u32 {
    let word = &bytes[at..];
    word.first_chunk()
        .map_or(word[0].into(), |word| u32::from_le_bytes(*word))
}

impl<F: Fn(usize) -> [u8; 16]> StoredValues for F {
    fn bytes(&self, lane: usize) -> [u8; 16] {
        self(lane)
    }
}

/// A run of adjacent lanes of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneRun {
    /// The address of the first lane.
    pub start: u64,
    pub first: usize,
    pub lanes: usize,
    /// True if each lane's bytes follow those of the lane before; false if all lanes access the same address.
    pub contiguous: bool,
}

impl LaneRun {
    /// Returns the first bytes, at most 4, that the run stores from byte `at` of its span on. Each lane stores `bytes`
    /// bytes; if all store to one address, the last lane's remain.
    #[inline(always)]
    pub fn stored_word(&self, at: u64, bytes: u64, stored: &impl StoredValues) -> u32 {
        // A division takes as long as ten of the other operations.
        let nth = match bytes.is_power_of_two() {
            true => at >> bytes.trailing_zeros(),
            false => at / bytes,
        };
        let lane = match self.contiguous {
            true => nth as usize,
            false => self.lanes - 1,
        };
        stored.word(self.first + lane, (at - nth * bytes) as usize)
    }

    /// Creates the run of a single lane that accesses `start`.
    pub fn single(lane: usize, start: u64) -> LaneRun {
        LaneRun {
            start,
            first: lane,
            lanes: 1,
            contiguous: true,
        }
    }

    /// Returns the number of bytes that the run covers if each lane accesses `bytes` bytes.
    #[inline(always)]
    pub fn span(&self, bytes: u64) -> u64 {
        if self.contiguous {
            self.lanes as u64 * bytes
        } else {
            bytes
        }
    }

    /// Iterates over the run's lanes with their addresses, if each accesses `bytes` bytes.
    pub fn addresses(&self, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
        let (start, step) = (self.start, if self.contiguous { bytes } else { 0 });
        (0..self.lanes).map(move |nth| (self.first + nth, start + nth as u64 * step))
    }

    /// Returns the run's lanes as a mask.
    #[inline(always)]
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (LANES - self.lanes)) << self.first
    }
}

/// The addresses of a warp's lanes: one address per lane, and an offset that is added to each.
#[derive(Clone, Copy)]
pub struct Addresses<'a> {
    pub row: &'a [u64; LANES],
    pub offset: u64,
}

impl Addresses<'_> {
    #[inline(always)]
    pub fn of(&self, lane: usize) -> u64 {
        self.row[lane & (LANES - 1)].wrapping_add(self.offset)
    }
}

/// An iterator over the runs of an access.
pub struct LaneRuns<'a> {
    at: Addresses<'a>,
    /// The lanes that are not in a run yet.
    left: u32,
    /// The lanes that access the same address as the lane before them.
    repeats: u32,
    /// The lanes whose bytes follow those of the lane before them.
    follows: u32,
}

impl<'a> LaneRuns<'a> {
    /// Creates the runs of the lanes in `mask`, each of which accesses `bytes` bytes.
    #[inline(always)]
    pub fn new(at: Addresses<'a>, mask: u32, bytes: u64) -> LaneRuns<'a> {
        let (repeats, follows) =
            quarter_steps(at.row, bytes).unwrap_or_else(|| lane_steps(at.row, bytes));
        // A lane can continue a run only if the lane before it is active too.
        let pairs = mask & mask << 1;
        LaneRuns {
            at,
            left: mask,
            repeats: repeats & pairs,
            follows: follows & pairs,
        }
    }
}

impl Iterator for LaneRuns<'_> {
    type Item = LaneRun;

    #[inline(always)]
    fn next(&mut self) -> Option<LaneRun> {
        if self.left == 0 {
            return None;
        }
        let first = self.left.trailing_zeros() as usize;
        let after = |lanes: u32| (lanes.wrapping_shr(first as u32) >> 1).trailing_ones() as usize;
        let (follows, repeats) = (after(self.follows), after(self.repeats));
        let run = LaneRun {
            start: self.at.of(first),
            first,
            lanes: 1 + follows.max(repeats),
            contiguous: follows > 0,
        };
        self.left &= !run.mask();
        Some(run)
    }
}

/// Returns two masks: the lanes with the same address as the lane before them, and the lanes whose bytes follow
/// those of the lane before them.
#[inline(always)]
fn lane_steps(row: &[u64; LANES], bytes: u64) -> (u32, u32) {
    let (mut repeats, mut follows) = (0, 0);
    for lane in 1..LANES {
        let step = row[lane].wrapping_sub(row[lane - 1]);
        repeats |= u32::from(step == 0) << lane;
        follows |= u32::from(step == bytes) << lane;
    }
    (repeats, follows)
}

/// Computes the result of [`lane_steps`] without a comparison per lane. Returns `None` unless the addresses
/// of each quarter of the warp are uniform or contiguous, which is the common case.
#[inline(always)]
fn quarter_steps(row: &[u64; LANES], bytes: u64) -> Option<(u32, u32)> {
    if !matches!(row[1].wrapping_sub(row[0]), step if step == 0 || step == bytes) {
        // The first two lanes already rule out most other patterns.
        return None;
    }
    const WITHIN: u32 = (1 << LANES_PER_QUARTER) - 2;
    let (mut repeats, mut follows) = (0, 0);
    for (nth, quarter) in quarters(row, 0, bytes)?.into_iter().enumerate() {
        let first = nth * LANES_PER_QUARTER;
        let contiguous = u32::from(quarter.contiguous).wrapping_neg();
        repeats |= (WITHIN & !contiguous) << first;
        follows |= (WITHIN & contiguous) << first;
        if first > 0 {
            let step = quarter.start.wrapping_sub(row[first - 1]);
            repeats |= u32::from(step == 0) << first;
            follows |= u32::from(step == bytes) << first;
        }
    }
    Some((repeats, follows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(mask: u32, at: impl Fn(u64) -> u64) -> Vec<(u64, usize, usize, bool)> {
        let row = &std::array::from_fn(|lane| at(lane as u64).wrapping_sub(100));
        let runs = LaneRuns::new(Addresses { row, offset: 100 }, mask, 4);
        runs.map(|run| (run.start, run.first, run.lanes, run.contiguous))
            .collect()
    }

    #[test]
    fn adjacent_lanes_form_one_run() {
        assert_eq!(runs_of(u32::MAX, |lane| 64 + lane * 4), [(64, 0, 32, true)]);
        assert_eq!(runs_of(u32::MAX, |_| 8), [(8, 0, 32, false)]);
        assert_eq!(runs_of(0xf0, |lane| lane * 4), [(16, 4, 4, true)]);
        assert_eq!(
            runs_of(u32::MAX, |lane| lane / 16 * 1000 + lane % 16 * 4),
            [(0, 0, 16, true), (1000, 16, 16, true)]
        );
        assert_eq!(
            runs_of(0x0101, |lane| lane),
            [(0, 0, 1, false), (8, 8, 1, false)]
        );
        assert_eq!(runs_of(u32::MAX, |lane| lane * 8).len(), 32);
        assert_eq!(runs_of(0, |lane| lane), []);
        assert_eq!(
            runs_of(u32::MAX, |lane| lane / 31 * 4),
            [(0, 0, 31, false), (4, 31, 1, false)]
        );
        assert_eq!(
            runs_of(0b1101, |lane| lane * 4),
            [(0, 0, 1, false), (8, 2, 2, true)]
        );
    }

    #[test]
    fn quarter_steps_agree_with_lane_steps() {
        // The start of each quarter, and whether its lanes are contiguous. The second quarter continues the
        // first, starts at its last address, or lies elsewhere.
        let starts = [0, 4, 28, 32, 36, 1000];
        let mut rejected = 0;
        for case in 0..starts.len() * starts.len() * 16 {
            let (second, third) = (case / 16 % starts.len(), case / 16 / starts.len());
            let starts_at = [100, 100 + starts[second], 100 + starts[third], 132];
            let row = std::array::from_fn(|lane| {
                let (quarter, nth) = (lane / LANES_PER_QUARTER, lane % LANES_PER_QUARTER);
                starts_at[quarter] + (case as u64 >> quarter & 1) * 4 * nth as u64
            });
            assert_eq!(quarter_steps(&row, 4), Some(lane_steps(&row, 4)), "{row:?}");
            let mut perturbed = row;
            perturbed[5 + case % 27] ^= 512;
            let fast = quarter_steps(&perturbed, 4);
            assert!(
                fast.is_none_or(|fast| fast == lane_steps(&perturbed, 4)),
                "{perturbed:?}"
            );
            rejected += usize::from(fast.is_none());
        }
        assert!(rejected > 500);
    }

    #[test]
    fn span_and_mask_cover_the_lanes() {
        let run = LaneRun {
            start: 0,
            first: 4,
            lanes: 3,
            contiguous: true,
        };
        assert_eq!((run.span(8), run.mask()), (24, 0x70));
        let repeats = LaneRun {
            contiguous: false,
            ..run
        };
        assert_eq!(repeats.span(8), 8);
    }
}
