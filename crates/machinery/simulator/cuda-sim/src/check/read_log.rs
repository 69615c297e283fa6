//! A log of reads that are not in the shadow state yet. It is applied only if a thread writes before the next
//! barrier.

use super::lane_runs::{Accessor, Addresses, LaneRun, LaneRuns};
use crate::lanes::{FULL, LANES, LANES_PER_QUARTER, Quarter};

/// The capacity of the log.
const MAX_READS: usize = 1 << 12;

/// The number of quarters of a warp.
const QUARTERS: usize = LANES / LANES_PER_QUARTER;

/// A warp's read.
pub struct Read {
    /// The warp's stamp.
    pub stamp: u32,
    /// The accessor, with lane 0 standing for all lanes of the warp.
    pub accessor: Accessor,
    /// Bytes read per lane.
    bytes: u8,
    addresses: ReadAddresses,
}

enum ReadAddresses {
    LaneRun {
        start: u32,
        first: u8,
        lanes: u8,
        contiguous: bool,
    },
    /// The addresses of a full warp: for each quarter its start, and whether its lanes are contiguous.
    /// Otherwise all lanes of the quarter read the same address.
    Quarters([(u32, bool); QUARTERS]),
}

impl Read {
    /// Creates a read by the lanes of a run.
    #[inline(always)]
    pub fn of_run((stamp, accessor): (u32, Accessor), run: &LaneRun, bytes: u64) -> Read {
        Read {
            stamp,
            accessor,
            bytes: bytes as u8,
            addresses: ReadAddresses::LaneRun {
                start: run.start as u32,
                first: run.first as u8,
                lanes: run.lanes as u8,
                contiguous: run.contiguous,
            },
        }
    }

    /// Creates a read by a full warp.
    #[inline(always)]
    pub fn of_quarters(
        (stamp, accessor): (u32, Accessor),
        quarters: &[Quarter; QUARTERS],
        bytes: u64,
    ) -> Read {
        Read {
            stamp,
            accessor,
            bytes: bytes as u8,
            addresses: ReadAddresses::Quarters(
                quarters.map(|quarter| (quarter.start as u32, quarter.contiguous)),
            ),
        }
    }

    /// Calls `f` with each run of the read, in order, and the bytes read per lane.
    #[inline(always)]
    pub fn runs(&self, mut f: impl FnMut(&LaneRun, u64)) {
        let bytes = self.bytes.into();
        match self.addresses {
            ReadAddresses::LaneRun {
                start,
                first,
                lanes,
                contiguous,
            } => {
                let run = LaneRun {
                    start: start.into(),
                    first: first.into(),
                    lanes: lanes.into(),
                    contiguous,
                };
                f(&run, bytes);
            }
            ReadAddresses::Quarters(quarters) => {
                let row = &std::array::from_fn(|lane| {
                    let (start, contiguous) = quarters[lane / LANES_PER_QUARTER];
                    let nth = (lane % LANES_PER_QUARTER) as u64;
                    u64::from(start) + if contiguous { nth * bytes } else { 0 }
                });
                LaneRuns::new(Addresses { row, offset: 0 }, FULL, bytes)
                    .for_each(|run| f(&run, bytes));
            }
        }
    }
}

/// The reads since the last barrier of the whole block, in order.
#[derive(Default)]
pub struct ReadLog {
    list: Vec<Read>,
    /// The block's floor (see [`HappensBefore`](super::happens_before::HappensBefore)) at the first of the
    /// reads.
    floor: u32,
}

impl ReadLog {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if one more read fits and the floor has not changed.
    #[inline(always)]
    pub fn has_room(&self, floor: u32) -> bool {
        self.floor == floor && self.list.len() < MAX_READS
    }

    /// Clears the log for reads at this floor.
    pub fn begin(&mut self, floor: u32) {
        self.list.clear();
        self.floor = floor;
    }

    #[inline(always)]
    pub fn push(&mut self, read: Read) {
        self.list.push(read);
    }

    /// Returns the logged reads if the floor has not changed. Otherwise returns none: a barrier has completed
    /// since, so nothing can conflict with them.
    pub fn since(&self, floor: u32) -> &[Read] {
        if self.floor == floor { &self.list } else { &[] }
    }

    /// Discards all reads.
    pub fn clear(&mut self) {
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::quarters;

    #[test]
    fn a_read_yields_the_runs_it_was_made_of() {
        let accessor = (1, Accessor::new(0, 0, 0));
        let runs = |read: Read| {
            let mut actual = Vec::new();
            read.runs(|run, bytes| actual.push((*run, bytes)));
            actual
        };
        for rows in [[0, 32, 64, 96], [0, 64, 128, 192], [64, 64, 0, 32]] {
            for bytes in [0, 4] {
                let row = &std::array::from_fn(|lane| {
                    rows[lane / LANES_PER_QUARTER] + (lane % LANES_PER_QUARTER) as u64 * bytes
                });
                let at = Addresses { row, offset: 1024 };
                let expected: Vec<_> = LaneRuns::new(at, FULL, 4).map(|run| (run, 4)).collect();
                let actual = quarters(row, 1024, 4).unwrap();
                assert_eq!(runs(Read::of_quarters(accessor, &actual, 4)), expected);
                for (run, bytes) in expected {
                    assert_eq!(runs(Read::of_run(accessor, &run, bytes)), [(run, bytes)]);
                }
            }
        }
    }
}
