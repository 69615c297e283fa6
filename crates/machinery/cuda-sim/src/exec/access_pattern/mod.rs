//! How the addresses of a gang's access lie, remembered from one time to the next.
//!
//! An instruction in a loop, and in block after block, accesses memory in one way again and again:
//! all addresses of all warps have moved on by the same. So what follows from how they lie to each
//! other is worked out once and kept with the instruction: the bytes from the lowest to the highest,
//! which are looked up in one step, and the ranges of memory that are touched. What remains is to
//! see that the addresses do lie so, which takes a few vector instructions a warp.
//!
//! Remembered is what most accesses are: in each quarter of a warp lanes at one address, or at
//! consecutive ones (see [`super::quarters`]).

mod cache;

pub use cache::{AccessPatterns, PatternKey};

use super::gang::MAX_WARPS;
use crate::lanes::LANES;
use crate::lanes::quarters::{LANES_OF_QUARTER, quarters};
use std::rc::Rc;

/// Quarters of a warp.
const QUARTERS: usize = LANES / LANES_OF_QUARTER;

/// Bytes of a line, and of a word of it.
const LINE: u64 = 128;
const WORD: u64 = 4;
/// Bytes of a sector: no access reaches from one into the next.
const SECTOR: u64 = 32;

/// The address that an origin's line is given while traffic is worked out, so large that no place
/// relative to it falls below zero.
pub const TRAFFIC_ORIGIN: u64 = 1 << 50;

/// The most bytes from the lowest address to the highest: more than any allocation has.
const MAX_EXTENT: i64 = 1 << 46;

/// How the addresses of one instruction lie to each other. Places are relative to the first lane of
/// the first warp, whose address is the access's *origin*.
pub struct AccessPattern {
    warps: usize,
    /// Where each quarter of each warp begins, as a place.
    starts: [[u64; QUARTERS]; MAX_WARPS],
    /// For each of these quarters: all ones if its lanes follow one another, zero if all are at its
    /// beginning.
    contiguous: [[u64; QUARTERS]; MAX_WARPS],
    /// Bytes from the first lane of a quarter to each of its lanes, where they follow one another.
    steps: [u64; LANES_OF_QUARTER],
    /// The lanes of every quarter follow one another.
    all_contiguous: bool,
    /// All 32 lanes of each warp follow one another.
    consecutive: bool,
    /// Places of the first warp's lanes, if those of every other warp lie in the same way.
    shared_offsets: Option<Box<[u64; LANES]>>,
    /// The lowest place.
    lowest: u64,
    /// Bytes from there to the end of the highest access.
    bytes: u64,
    /// The memory that is touched, each byte once: a place and the bytes from there on.
    ranges: Vec<(u64, u64)>,
    /// Every piece is one lane's access, and no two are in one sector.
    in_sectors: bool,
    /// When the ranges were last marked as touched: the origin's sector, and the epoch.
    marked: Option<(u64, u32)>,
    /// What the access comes to, for each place in a line where the origin may be.
    traffic_at: Vec<Option<Rc<GangTraffic>>>,
    /// Bytes between two of these places.
    granularity: u64,
    /// How many times in a row the addresses have lain otherwise.
    misses: u32,
    /// The addresses lay like this when the instruction ran last.
    matched_last: bool,
}

/// What an access of all warps of a gang comes to.
#[derive(Default)]
pub struct GangTraffic {
    /// Sectors of global memory.
    pub sectors: u64,
    pub wavefronts: u64,
    /// Bank conflicts of shared memory.
    pub conflicts: u64,
    /// Lines of global memory, warp by warp: the number relative to the origin's line, and a bit for each
    /// sector.
    pub lines: Vec<(u64, u8)>,
    /// Where in `lines` those of each warp end.
    pub ends: [usize; MAX_WARPS],
}

impl GangTraffic {
    /// The lines of a warp, and the sectors of each, if `origin` is the number of the origin's line.
    #[inline(always)]
    pub fn of_warp(&self, member: usize, origin: u64) -> impl Iterator<Item = (u64, u8)> {
        let from = member.checked_sub(1).map_or(0, |before| self.ends[before]);
        let lines = self.lines[from..self.ends[member]].iter();
        lines.map(move |&(line, sectors)| (origin.wrapping_add(line) & (u64::MAX / LINE), sectors))
    }
}

impl AccessPattern {
    /// How the addresses in `rows`, one row a warp, lie; none if they do not lie in quarters. Each lane
    /// accesses `size` bytes, and no two accesses overlap in part.
    fn from_rows<'a>(
        rows: impl Iterator<Item = &'a [u64; LANES]>,
        size: u64,
    ) -> Option<AccessPattern> {
        let mut pattern = AccessPattern {
            warps: 0,
            starts: [[0; QUARTERS]; MAX_WARPS],
            contiguous: [[0; QUARTERS]; MAX_WARPS],
            steps: std::array::from_fn(|lane| lane as u64 * size),
            all_contiguous: true,
            consecutive: true,
            shared_offsets: None,
            lowest: 0,
            bytes: 0,
            ranges: Vec::new(),
            in_sectors: false,
            marked: None,
            traffic_at: Vec::new(),
            granularity: size.min(WORD),
            misses: 0,
            matched_last: true,
        };
        let mut origin = None;
        for row in rows {
            let origin = *origin.get_or_insert(row[0]);
            for (n, quarter) in quarters(row, 0, size)?.into_iter().enumerate() {
                let start = quarter.start.wrapping_sub(origin);
                if start % size != 0 || !(-MAX_EXTENT..MAX_EXTENT).contains(&(start as i64)) {
                    return None;
                }
                pattern.starts[pattern.warps][n] = start;
                pattern.contiguous[pattern.warps][n] = u64::from(quarter.apart).wrapping_neg();
                pattern.all_contiguous &= quarter.apart;
                let follows = (n * LANES_OF_QUARTER) as u64 * size;
                let first = pattern.starts[pattern.warps][0];
                pattern.consecutive &= quarter.apart && start == first.wrapping_add(follows);
                let lanes = if quarter.apart { LANES_OF_QUARTER } else { 1 };
                pattern.ranges.push((start, lanes as u64 * size));
            }
            pattern.warps += 1;
        }
        let shared_offsets = (0..pattern.warps).all(|member| {
            let base = pattern.starts[member][0];
            let starts = pattern.starts[0].map(|start| start.wrapping_add(base));
            (pattern.starts[member], pattern.contiguous[member]) == (starts, pattern.contiguous[0])
        });
        pattern.shared_offsets = shared_offsets.then(|| Box::new(pattern.lane_offsets(0)));
        pattern.ranges = merge_ranges(std::mem::take(&mut pattern.ranges));
        pattern.in_sectors = pattern
            .ranges
            .iter()
            .all(|&(start, bytes)| start % SECTOR == 0 && bytes == size);
        let (first, last) = (pattern.ranges.first()?, pattern.ranges.last()?);
        pattern.lowest = first.0;
        pattern.bytes = last.0.wrapping_add(last.1).wrapping_sub(first.0);
        Some(pattern)
    }

    /// Whether the addresses in `rows`, as many as there are warps, lie like this.
    #[inline(always)]
    fn matches<'a>(&self, rows: impl Fn(usize) -> &'a [u64; LANES]) -> bool {
        let origin = rows(0)[0];
        let mut mismatch = [0; LANES_OF_QUARTER];
        if let Some(offsets) = &self.shared_offsets {
            for member in 0..self.warps.min(MAX_WARPS) {
                let (row, start) = (rows(member), origin.wrapping_add(self.starts[member][0]));
                for quarter in 0..QUARTERS {
                    for lane in 0..LANES_OF_QUARTER {
                        let n = quarter * LANES_OF_QUARTER + lane;
                        mismatch[lane] |= row[n] ^ start.wrapping_add(offsets[n]);
                    }
                }
            }
            return mismatch == [0; LANES_OF_QUARTER];
        }
        for member in 0..self.warps.min(MAX_WARPS) {
            let row = rows(member);
            for quarter in 0..QUARTERS {
                let start = origin.wrapping_add(self.starts[member][quarter]);
                let contiguous = self.contiguous[member][quarter];
                for lane in 0..LANES_OF_QUARTER {
                    let expected = start.wrapping_add(self.steps[lane] & contiguous);
                    mismatch[lane] |= row[quarter * LANES_OF_QUARTER + lane] ^ expected;
                }
            }
        }
        mismatch == [0; LANES_OF_QUARTER]
    }

    /// What the access comes to whose first address is `origin`: worked out by `add` from each warp's
    /// addresses, if it was not before. Those are relative to the origin's line, from
    /// [`TRAFFIC_ORIGIN`] on.
    #[inline(always)]
    pub fn traffic_at(
        &mut self,
        origin: u64,
        add: impl Fn(&mut GangTraffic, &[u64; LANES]),
    ) -> &Rc<GangTraffic> {
        let slot = ((origin % LINE) >> self.granularity.trailing_zeros()) as usize;
        if !matches!(self.traffic_at.get(slot), Some(Some(_))) {
            let slots = (LINE / self.granularity) as usize;
            self.traffic_at.resize_with(slots, || None);
            self.traffic_at[slot] = Some(Rc::new(self.traffic(origin % LINE, add)));
        }
        match &self.traffic_at[slot] {
            Some(traffic) => traffic,
            None => unreachable!("it was put there"),
        }
    }

    #[inline(never)]
    fn traffic(&self, within: u64, add: impl Fn(&mut GangTraffic, &[u64; LANES])) -> GangTraffic {
        let mut traffic = GangTraffic::default();
        for member in 0..self.warps {
            let row = self.lane_offsets(member);
            let row = row.map(|offset| (TRAFFIC_ORIGIN + within).wrapping_add(offset));
            add(&mut traffic, &row);
            traffic.ends[member] = traffic.lines.len();
        }
        traffic
    }

    /// Where the lanes of a warp are.
    fn lane_offsets(&self, member: usize) -> [u64; LANES] {
        std::array::from_fn(|lane| {
            let (quarter, lane) = (lane / LANES_OF_QUARTER, lane % LANES_OF_QUARTER);
            let step = self.steps[lane] & self.contiguous[member][quarter];
            self.starts[member][quarter].wrapping_add(step)
        })
    }

    /// In every quarter the lanes are contiguous.
    #[inline(always)]
    pub fn all_contiguous(&self) -> bool {
        self.all_contiguous
    }

    /// The lowest place, and the bytes from there to the end of the highest.
    #[inline(always)]
    pub fn extent(&self) -> (u64, u64) {
        (self.lowest, self.bytes)
    }

    /// The memory that is touched, places and bytes from there on: nothing where the same sectors
    /// were marked in this epoch before.
    #[inline(always)]
    pub fn take_untouched(&mut self, origin: u64, epoch: u32) -> &[(u64, u64)] {
        let now = Some((origin / SECTOR, epoch));
        if self.in_sectors && std::mem::replace(&mut self.marked, now) == now {
            return &[];
        }
        &self.ranges
    }

    /// Where a warp begins, as bytes from the lowest place on, if all its lanes follow one another.
    #[inline(always)]
    pub fn consecutive(&self, member: usize) -> Option<usize> {
        let start = self.starts[member][0].wrapping_sub(self.lowest) as usize;
        self.consecutive.then_some(start)
    }

    /// Where each quarter of a warp begins, as bytes from the lowest place on, and whether its lanes
    /// are contiguous.
    #[inline(always)]
    pub fn of_warp(&self, member: usize) -> impl Iterator<Item = (usize, bool)> {
        let quarters = self.starts[member].iter().zip(&self.contiguous[member]);
        let lowest = self.lowest;
        quarters
            .map(move |(start, &contiguous)| (start.wrapping_sub(lowest) as usize, contiguous != 0))
    }
}

/// `ranges` in order, and as one where they overlap or follow one another. They may lie on both
/// sides of zero.
fn merge_ranges(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable_by_key(|&(start, bytes)| (start as i64, bytes));
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, bytes) in ranges {
        match merged.last_mut() {
            Some(last) if start.wrapping_sub(last.0) <= last.1 => {
                last.1 = last.1.max(start.wrapping_sub(last.0) + bytes);
            }
            _ => merged.push((start, bytes)),
        }
    }
    merged
}
