//! A warp's addresses as runs: lanes side by side that access one place, or places side by side.

use crate::lanes::LANES;
use crate::lanes::quarters::{LANES_OF_QUARTER, quarters};

/// Some lanes of an access, in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneRun {
    /// The address of the first lane.
    pub start: u64,
    pub first: usize,
    pub lanes: usize,
    /// Each lane's place is behind that of the lane before; else all are one place.
    pub apart: bool,
}

impl LaneRun {
    /// Bytes that the run covers, where each lane accesses so many.
    #[inline(always)]
    pub fn span(&self, bytes: u64) -> u64 {
        if self.apart {
            self.lanes as u64 * bytes
        } else {
            bytes
        }
    }

    /// The run's lanes, as a mask.
    #[inline(always)]
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (LANES - self.lanes)) << self.first
    }
}

/// The addresses of a warp's lanes: a number for each lane, and an offset that is added to each.
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

/// The runs of an access, one after the other.
pub struct LaneRuns<'a> {
    at: Addresses<'a>,
    /// Lanes that are not in a run yet.
    left: u32,
    /// Lanes that access the same place as the lane before them.
    same: u32,
    /// Lanes whose place is right behind that of the lane before them.
    behind: u32,
}

impl<'a> LaneRuns<'a> {
    /// The runs of the lanes in `mask`, each of which accesses `bytes` bytes.
    #[inline(always)]
    pub fn new(at: Addresses<'a>, mask: u32, bytes: u64) -> LaneRuns<'a> {
        let (same, behind) = in_quarters(at.row, bytes).unwrap_or_else(|| steps(at.row, bytes));
        // A lane goes on with a run if the one before it is there too.
        let pairs = mask & mask << 1;
        LaneRuns {
            at,
            left: mask,
            same: same & pairs,
            behind: behind & pairs,
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
        let (behind, same) = (after(self.behind), after(self.same));
        let run = LaneRun {
            start: self.at.of(first),
            first,
            lanes: 1 + behind.max(same),
            apart: behind > 0,
        };
        self.left &= !run.mask();
        Some(run)
    }
}

/// Two masks: the lanes at the same place as the lane before them, and those right behind it.
#[inline(always)]
fn steps(row: &[u64; LANES], bytes: u64) -> (u32, u32) {
    let (mut same, mut behind) = (0, 0);
    for lane in 1..LANES {
        let step = row[lane].wrapping_sub(row[lane - 1]);
        same |= u32::from(step == 0) << lane;
        behind |= u32::from(step == bytes) << lane;
    }
    (same, behind)
}

/// The same result as that of [`steps`], found without a look at each lane. It is given only where
/// in each quarter of the warp all lanes are at one place or follow one another, as they mostly do;
/// else none.
#[inline(always)]
fn in_quarters(row: &[u64; LANES], bytes: u64) -> Option<(u32, u32)> {
    if !matches!(row[1].wrapping_sub(row[0]), step if step == 0 || step == bytes) {
        // Most other patterns show here.
        return None;
    }
    const WITHIN: u32 = (1 << LANES_OF_QUARTER) - 2;
    let (mut same, mut behind) = (0, 0);
    for (nth, quarter) in quarters(row, 0, bytes)?.into_iter().enumerate() {
        let first = nth * LANES_OF_QUARTER;
        let apart = u32::from(quarter.apart).wrapping_neg();
        same |= (WITHIN & !apart) << first;
        behind |= (WITHIN & apart) << first;
        if first > 0 {
            let step = quarter.start.wrapping_sub(row[first - 1]);
            same |= u32::from(step == 0) << first;
            behind |= u32::from(step == bytes) << first;
        }
    }
    Some((same, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mask: u32, at: impl Fn(u64) -> u64) -> Vec<(u64, usize, usize, bool)> {
        let row = &std::array::from_fn(|lane| at(lane as u64).wrapping_sub(100));
        let runs = LaneRuns::new(Addresses { row, offset: 100 }, mask, 4);
        runs.map(|run| (run.start, run.first, run.lanes, run.apart))
            .collect()
    }

    #[test]
    fn lanes_side_by_side_are_one_run() {
        assert_eq!(of(u32::MAX, |lane| 64 + lane * 4), [(64, 0, 32, true)]);
        assert_eq!(of(u32::MAX, |_| 8), [(8, 0, 32, false)]);
        assert_eq!(of(0xf0, |lane| lane * 4), [(16, 4, 4, true)]);
        assert_eq!(
            of(u32::MAX, |lane| lane / 16 * 1000 + lane % 16 * 4),
            [(0, 0, 16, true), (1000, 16, 16, true)]
        );
        assert_eq!(
            of(0x0101, |lane| lane),
            [(0, 0, 1, false), (8, 8, 1, false)]
        );
        assert_eq!(of(u32::MAX, |lane| lane * 8).len(), 32);
        assert_eq!(of(0, |lane| lane), []);
        assert_eq!(
            of(u32::MAX, |lane| lane / 31 * 4),
            [(0, 0, 31, false), (4, 31, 1, false)]
        );
        assert_eq!(
            of(0b1101, |lane| lane * 4),
            [(0, 0, 1, false), (8, 2, 2, true)]
        );
    }

    #[test]
    fn quarters_are_seen_as_their_steps_are() {
        // Where each quarter begins, and whether its lanes are apart: the second quarter goes on
        // with the first, is at its last place, or is elsewhere.
        let starts = [0, 4, 28, 32, 36, 1000];
        let mut found = 0;
        for choice in 0..starts.len() * starts.len() * 16 {
            let (second, third) = (choice / 16 % starts.len(), choice / 16 / starts.len());
            let places = [100, 100 + starts[second], 100 + starts[third], 132];
            let row = std::array::from_fn(|lane| {
                let (quarter, nth) = (lane / LANES_OF_QUARTER, lane % LANES_OF_QUARTER);
                places[quarter] + (choice as u64 >> quarter & 1) * 4 * nth as u64
            });
            assert_eq!(in_quarters(&row, 4), Some(steps(&row, 4)), "{row:?}");
            let mut stray = row;
            stray[5 + choice % 27] ^= 512;
            let seen = in_quarters(&stray, 4);
            assert!(
                seen.is_none_or(|seen| seen == steps(&stray, 4)),
                "{stray:?}"
            );
            found += usize::from(seen.is_none());
        }
        assert!(found > 500);
    }

    #[test]
    fn a_run_knows_what_it_covers() {
        let run = LaneRun {
            start: 0,
            first: 4,
            lanes: 3,
            apart: true,
        };
        assert_eq!((run.span(8), run.mask()), (24, 0x70));
        let same = LaneRun {
            apart: false,
            ..run
        };
        assert_eq!(same.span(8), 8);
    }
}
