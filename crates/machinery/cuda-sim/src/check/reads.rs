//! A list of reads of shared memory, kept in case somebody writes before the next barrier.

use super::accessor::Who;
use super::runs::{Addresses, LaneRun, LaneRuns};

use crate::lanes::quarters::{LANES_OF_QUARTER, Quarter};
use crate::lanes::{FULL, LANES};

/// The most reads that a list has.
const MOST: usize = 1 << 12;

/// How many quarters a warp has.
const QUARTERS: usize = LANES / LANES_OF_QUARTER;

/// A warp's read.
pub struct Read {
    /// The warp's stamp.
    pub stamp: u32,
    /// Who read: lane 0 of the warp stands for all.
    pub who: Who,
    /// How many bytes each lane reads.
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
    /// Of a whole warp: where each quarter of it begins, and whether the lanes of the quarter
    /// follow one another. Else they all read one place.
    Quarters([(u32, bool); QUARTERS]),
}

impl Read {
    /// A read by the lanes of a run.
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

    /// A read by a whole warp.
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

/// The reads since the last barrier of the whole block, in order.
#[derive(Default)]
pub struct Reads {
    list: Vec<Read>,
    /// The block's floor (see [`Order`](super::order::Order)) when the first of them was put down.
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

    /// Empties the list for reads at this floor.
    pub fn begin(&mut self, floor: u32) {
        self.list.clear();
        self.floor = floor;
    }

    #[inline(always)]
    pub fn put_down(&mut self, read: Read) {
        self.list.push(read);
    }

    /// The reads in the list, if this is still the floor; else none: a barrier has opened since,
    /// and nothing that comes now can be in conflict with them.
    pub fn since(&self, floor: u32) -> &[Read] {
        if self.floor == floor { &self.list } else { &[] }
    }

    /// Forgets all reads.
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
