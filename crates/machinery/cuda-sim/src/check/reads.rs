//! Reads of shared memory that are put down, in case somebody writes before the next barrier.

use super::accessor::Who;
use super::runs::{Addresses, LaneRun, LaneRuns};

use crate::lanes::quarters::{LANES_OF_QUARTER, Quarter};
use crate::lanes::{FULL, LANES};

/// The most there are.
const MOST: usize = 1 << 12;

/// Quarters of a warp.
const QUARTERS: usize = LANES / LANES_OF_QUARTER;

/// A warp's read.
pub struct Read {
    /// The warp's stamp.
    pub stamp: u32,
    /// The warp's lane 0.
    pub who: Who,
    /// That each lane reads.
    bytes: u8,
    places: Places,
}

enum Places {
    LaneRun {
        start: u32,
        first: u8,
        lanes: u8,
        apart: bool,
    },
    /// The whole warp's: where each quarter begins, and whether its lanes follow one another.
    Quarters([(u32, bool); QUARTERS]),
}

impl Read {
    /// By the lanes of a run.
    #[inline(always)]
    pub fn of_run((stamp, who): (u32, Who), run: &LaneRun, bytes: u64) -> Read {
        Read {
            stamp,
            who,
            bytes: bytes as u8,
            places: Places::LaneRun {
                start: run.start as u32,
                first: run.first as u8,
                lanes: run.lanes as u8,
                apart: run.apart,
            },
        }
    }

    /// By a whole warp.
    #[inline(always)]
    pub fn of_quarters(
        (stamp, who): (u32, Who),
        quarters: &[Quarter; QUARTERS],
        bytes: u64,
    ) -> Read {
        Read {
            stamp,
            who,
            bytes: bytes as u8,
            places: Places::Quarters(quarters.map(|one| (one.start as u32, one.apart))),
        }
    }

    /// Calls `each` with the runs of its lanes, in order, and the bytes that a lane reads.
    #[inline(always)]
    pub fn runs(&self, mut each: impl FnMut(&LaneRun, u64)) {
        let bytes = self.bytes.into();
        match self.places {
            Places::LaneRun {
                start,
                first,
                lanes,
                apart,
            } => {
                let run = LaneRun {
                    start: start.into(),
                    first: first.into(),
                    lanes: lanes.into(),
                    apart,
                };
                each(&run, bytes);
            }
            Places::Quarters(quarters) => {
                let row = &std::array::from_fn(|lane| {
                    let (start, apart) = quarters[lane / LANES_OF_QUARTER];
                    let nth = (lane % LANES_OF_QUARTER) as u64;
                    u64::from(start) + if apart { nth * bytes } else { 0 }
                });
                LaneRuns::new(Addresses { row, offset: 0 }, FULL, bytes)
                    .for_each(|run| each(&run, bytes));
            }
        }
    }
}

/// Those since one barrier, in order.
#[derive(Default)]
pub struct Reads {
    list: Vec<Read>,
    /// The block's floor then.
    floor: u32,
}

impl Reads {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there is room for one more, if this is the floor.
    #[inline(always)]
    pub fn has_room(&self, floor: u32) -> bool {
        self.floor == floor && self.list.len() < MOST
    }

    /// Begins anew, at this floor.
    pub fn begin(&mut self, floor: u32) {
        self.list.clear();
        self.floor = floor;
    }

    #[inline(always)]
    pub fn put_down(&mut self, read: Read) {
        self.list.push(read);
    }

    /// Those that no barrier has made meaningless, if this is the floor.
    pub fn since(&self, floor: u32) -> &[Read] {
        if self.floor == floor { &self.list } else { &[] }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::quarters::quarters;

    #[test]
    fn a_read_gives_back_its_runs() {
        let who = (1, Who::new(0, 0, 0));
        let runs = |read: Read| {
            let mut found = Vec::new();
            read.runs(|run, bytes| found.push((*run, bytes)));
            found
        };
        for rows in [[0, 32, 64, 96], [0, 64, 128, 192], [64, 64, 0, 32]] {
            for bytes in [0, 4] {
                let row = &std::array::from_fn(|lane| {
                    rows[lane / LANES_OF_QUARTER] + (lane % LANES_OF_QUARTER) as u64 * bytes
                });
                let at = Addresses { row, offset: 1024 };
                let wanted: Vec<_> = LaneRuns::new(at, FULL, 4).map(|run| (run, 4)).collect();
                let found = quarters(row, 1024, 4).unwrap();
                assert_eq!(runs(Read::of_quarters(who, &found, 4)), wanted);
                for (run, bytes) in wanted {
                    assert_eq!(runs(Read::of_run(who, &run, bytes)), [(run, bytes)]);
                }
            }
        }
    }
}
