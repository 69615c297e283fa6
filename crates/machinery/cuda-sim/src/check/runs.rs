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

/// Calls `each` with the runs of the lanes in `mask`, of accesses of `bytes` bytes.
#[inline(always)]
pub fn runs(at: &[u64; LANES], mask: u32, bytes: u64, mut each: impl FnMut(Run)) {
    let mut stray = !mask;
    let mut expected = at[0];
    for lane in 0..LANES {
        stray |= u32::from(at[lane] != expected);
        expected = expected.wrapping_add(bytes);
    }
    if stray == 0 {
        return each(Run {
            start: at[0],
            first: 0,
            lanes: LANES,
            apart: true,
        });
    }
    let mut lane = 0;
    while lane < LANES {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let runs_on = |next: usize| next < LANES && mask >> next & 1 == 1;
        let start = at[lane];
        let mut end = lane + 1;
        let apart = runs_on(end) && at[end] == start.wrapping_add(bytes);
        let step = if apart { bytes } else { 0 };
        let mut expected = start.wrapping_add(step);
        while runs_on(end) && at[end] == expected {
            expected = expected.wrapping_add(step);
            end += 1;
        }
        each(Run {
            start,
            first: lane,
            lanes: end - lane,
            apart,
        });
        lane = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mask: u32, at: impl Fn(u64) -> u64) -> Vec<(u64, usize, usize, bool)> {
        let at = std::array::from_fn(|lane| at(lane as u64));
        let mut found = Vec::new();
        runs(&at, mask, 4, |run| {
            found.push((run.start, run.first, run.lanes, run.apart));
        });
        found
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
