//! A warp's addresses as runs: lanes side by side that access one place, or places side by side.

use crate::exec::lanes::LANES;

/// Some lanes of an access, in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The address of the first lane.
    pub start: u64,
    pub first: usize,
    pub lanes: usize,
    /// Each lane's place is behind that of the lane before; else all are one place.
    pub apart: bool,
}

impl Run {
    /// Bytes that the run covers, where each lane accesses so many.
    #[inline(always)]
    pub fn span(&self, bytes: u64) -> u64 {
        if self.apart {
            self.lanes as u64 * bytes
        } else {
            bytes
        }
    }

    /// Its lanes, as a mask.
    #[inline(always)]
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (LANES - self.lanes)) << self.first
    }
}

/// The runs of an access, one after the other.
pub struct Runs<'a> {
    at: &'a [u64; LANES],
    /// Lanes that are not in a run yet.
    left: u32,
    /// Lanes at the place of the lane before, and right behind it.
    same: u32,
    behind: u32,
}

impl<'a> Runs<'a> {
    /// Those of the lanes in `mask`, of accesses of `bytes` bytes.
    #[inline(always)]
    pub fn new(at: &'a [u64; LANES], mask: u32, bytes: u64) -> Runs<'a> {
        let (mut same, mut behind) = (0, 0);
        for lane in 1..LANES {
            let step = at[lane].wrapping_sub(at[lane - 1]);
            same |= u32::from(step == 0) << lane;
            behind |= u32::from(step == bytes) << lane;
        }
        // A lane goes on with a run if the one before it is there too.
        let pairs = mask & mask << 1;
        Runs {
            at,
            left: mask,
            same: same & pairs,
            behind: behind & pairs,
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let first = self.left.trailing_zeros() as usize;
        let after = |lanes: u32| (lanes.wrapping_shr(first as u32) >> 1).trailing_ones() as usize;
        let (behind, same) = (after(self.behind), after(self.same));
        let run = Run {
            start: self.at[first & (LANES - 1)],
            first,
            lanes: 1 + behind.max(same),
            apart: behind > 0,
        };
        self.left &= !run.mask();
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mask: u32, at: impl Fn(u64) -> u64) -> Vec<(u64, usize, usize, bool)> {
        let at = std::array::from_fn(|lane| at(lane as u64));
        let runs = Runs::new(&at, mask, 4);
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
    fn a_run_knows_what_it_covers() {
        let run = Run {
            start: 0,
            first: 4,
            lanes: 3,
            apart: true,
        };
        assert_eq!((run.span(8), run.mask()), (24, 0x70));
        let same = Run {
            apart: false,
            ..run
        };
        assert_eq!(same.span(8), 8);
    }
}
