//! Access patterns of gangs, cached per instruction.
//!
//! In a loop, and in block after block, an instruction accesses memory in the same pattern: all addresses of
//! all warps shift by the same amount. Everything that depends only on the relative addresses is therefore
//! computed once and cached with the instruction: the extent from the lowest to the highest byte, which is
//! then translated in one step, and the ranges of memory that are touched. Each execution only has to verify
//! that the addresses have the pattern, which takes a few vector instructions per warp.
//!
//! A pattern covers most accesses: each quarter of each warp is uniform or contiguous (see
//! [`crate::lanes`]).

use crate::exec::warp::gang_state::MAX_WARPS;
use crate::lanes::{LANES, LANES_PER_QUARTER, quarters};
use std::rc::Rc;

const QUARTERS: usize = LANES / LANES_PER_QUARTER;

/// Bytes per cache line and per word.
const LINE: u64 = 128;
const WORD: u64 = 4;
/// Bytes per sector. No access crosses a sector boundary.
const SECTOR: u64 = 32;

/// Address of the origin's line while traffic is computed, large enough that no relative address wraps below
/// zero.
pub const TRAFFIC_ORIGIN: u64 = 1 << 50;

/// Maximum distance in bytes from the lowest to the highest address; larger than any allocation.
const MAX_EXTENT: i64 = 1 << 46;

/// The relative addresses of one instruction's access. Offsets are relative to the first lane of the first
/// warp, whose address is the access's *origin*.
pub struct AccessPattern {
    warps: usize,
    /// Offset of the start of each quarter of each warp.
    starts: [[u64; QUARTERS]; MAX_WARPS],
    /// For each of these quarters, all ones if it is contiguous, zero if it is uniform.
    contiguous: [[u64; QUARTERS]; MAX_WARPS],
    /// Bytes from the first lane of a contiguous quarter to each of its lanes.
    steps: [u64; LANES_PER_QUARTER],
    /// True if every quarter is contiguous.
    all_contiguous: bool,
    /// True if all 32 lanes of each warp are contiguous.
    consecutive: bool,
    /// Offsets of the first warp's lanes, if all other warps repeat them relative to their starts.
    shared_offsets: Option<Box<[u64; LANES]>>,
    /// The lowest offset.
    lowest: u64,
    /// Bytes from `lowest` to the end of the highest access.
    bytes: u64,
    /// The touched memory as disjoint ranges: offset and bytes.
    ranges: Vec<(u64, u64)>,
    /// True if every range is one lane's access and no two are in one sector.
    in_sectors: bool,
    /// Origin's sector and epoch for which the ranges were last marked as touched.
    marked: Option<(u64, u32)>,
    /// The access's traffic for each position of the origin within a line, once computed.
    traffic_at: Vec<Option<Rc<GangTraffic>>>,
    /// Bytes between two such positions.
    granularity: u64,
    /// Number of consecutive mismatches.
    misses: u32,
    /// True if the addresses matched the pattern at the instruction's last execution.
    matched_last: bool,
}

/// The memory traffic of an access by all warps of a gang.
#[derive(Default)]
pub struct GangTraffic {
    /// Number of sectors of global memory.
    pub sectors: u64,
    pub wavefronts: u64,
    /// Number of bank conflicts in shared memory.
    pub conflicts: u64,
    /// Lines of global memory, warp by warp: the number relative to the origin's line, and a bit mask of
    /// sectors.
    pub lines: Vec<(u64, u8)>,
    /// End of each warp's entries in `lines`.
    pub ends: [usize; MAX_WARPS],
}

impl GangTraffic {
    /// Returns the lines of a warp and the mask of sectors of each, for an origin in line number `origin`.
    #[inline(always)]
    pub fn of_warp(&self, member: usize, origin: u64) -> impl Iterator<Item = (u64, u8)> {
        let from = member.checked_sub(1).map_or(0, |before| self.ends[before]);
        let lines = self.lines[from..self.ends[member]].iter();
        lines.map(move |&(line, sectors)| (origin.wrapping_add(line) & (u64::MAX / LINE), sectors))
    }
}

impl AccessPattern {
    /// Returns the pattern of the addresses in `rows`, one row per warp, or `None` if some quarter warp is
    /// neither uniform nor contiguous. Each lane accesses `size` bytes, and no two accesses overlap
    /// partially.
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
                pattern.contiguous[pattern.warps][n] = u64::from(quarter.contiguous).wrapping_neg();
                pattern.all_contiguous &= quarter.contiguous;
                let follows = (n * LANES_PER_QUARTER) as u64 * size;
                let first = pattern.starts[pattern.warps][0];
                pattern.consecutive &= quarter.contiguous && start == first.wrapping_add(follows);
                let lanes = if quarter.contiguous {
                    LANES_PER_QUARTER
                } else {
                    1
                };
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

    /// Returns true if the addresses in `rows`, one row per warp, have this pattern.
    #[inline(always)]
    fn matches<'a>(&self, rows: impl Fn(usize) -> &'a [u64; LANES]) -> bool {
        let origin = rows(0)[0];
        let mut mismatch = [0; LANES_PER_QUARTER];
        if let Some(offsets) = &self.shared_offsets {
            for member in 0..self.warps.min(MAX_WARPS) {
                let (row, start) = (rows(member), origin.wrapping_add(self.starts[member][0]));
                for quarter in 0..QUARTERS {
                    for lane in 0..LANES_PER_QUARTER {
                        let n = quarter * LANES_PER_QUARTER + lane;
                        mismatch[lane] |= row[n] ^ start.wrapping_add(offsets[n]);
                    }
                }
            }
            return mismatch == [0; LANES_PER_QUARTER];
        }
        for member in 0..self.warps.min(MAX_WARPS) {
            let row = rows(member);
            for quarter in 0..QUARTERS {
                let start = origin.wrapping_add(self.starts[member][quarter]);
                let contiguous = self.contiguous[member][quarter];
                for lane in 0..LANES_PER_QUARTER {
                    let expected = start.wrapping_add(self.steps[lane] & contiguous);
                    mismatch[lane] |= row[quarter * LANES_PER_QUARTER + lane] ^ expected;
                }
            }
        }
        mismatch == [0; LANES_PER_QUARTER]
    }

    /// Returns the traffic of an access with the given origin. On first use for a position within a line, `add`
    /// computes it from each warp's addresses, which start at [`TRAFFIC_ORIGIN`] plus that position.
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
            let offsets = self.lane_offsets(member);
            let addresses = offsets.map(|offset| (TRAFFIC_ORIGIN + within).wrapping_add(offset));
            add(&mut traffic, &addresses);
            traffic.ends[member] = traffic.lines.len();
        }
        traffic
    }

    /// Returns the offsets of a warp's lanes.
    fn lane_offsets(&self, member: usize) -> [u64; LANES] {
        std::array::from_fn(|lane| {
            let (quarter, lane) = (lane / LANES_PER_QUARTER, lane % LANES_PER_QUARTER);
            let step = self.steps[lane] & self.contiguous[member][quarter];
            self.starts[member][quarter].wrapping_add(step)
        })
    }

    /// Returns true if every quarter is contiguous.
    #[inline(always)]
    pub fn all_contiguous(&self) -> bool {
        self.all_contiguous
    }

    /// Returns the lowest offset and the bytes from there to the end of the highest access.
    #[inline(always)]
    pub fn extent(&self) -> (u64, u64) {
        (self.lowest, self.bytes)
    }

    /// Returns the touched ranges, offset and bytes, or nothing if the same sectors were already marked in this
    /// epoch.
    #[inline(always)]
    pub fn take_untouched(&mut self, origin: u64, epoch: u32) -> &[(u64, u64)] {
        let now = Some((origin / SECTOR, epoch));
        if self.in_sectors && std::mem::replace(&mut self.marked, now) == now {
            return &[];
        }
        &self.ranges
    }

    /// Returns the start of a warp's access in bytes from the lowest address, if all its lanes are contiguous.
    #[inline(always)]
    pub fn consecutive(&self, member: usize) -> Option<usize> {
        let start = self.starts[member][0].wrapping_sub(self.lowest) as usize;
        self.consecutive.then_some(start)
    }

    /// Returns the start of each quarter of a warp in bytes from the lowest address, and true if it is
    /// contiguous.
    #[inline(always)]
    pub fn of_warp(&self, member: usize) -> impl Iterator<Item = (usize, bool)> {
        let quarters = self.starts[member].iter().zip(&self.contiguous[member]);
        let lowest = self.lowest;
        quarters
            .map(move |(start, &contiguous)| (start.wrapping_sub(lowest) as usize, contiguous != 0))
    }
}

/// Sorts `ranges` and merges those that overlap or are adjacent. Offsets may be on both sides of zero.
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

/// Number of mismatches in a row after which an access is analyzed only now and then.
const MAX_MISSES: u32 = 8;
/// Interval, in executions, of these later analyses.
const RETRY_INTERVAL: u32 = 64;

/// The cached access patterns of a program's instructions.
#[derive(Default)]
pub struct AccessPatterns {
    /// For each instruction address, the pattern of full gangs and the pattern of smaller gangs.
    cached: Vec<[Option<Box<AccessPattern>>; 2]>,
    /// Address of the instruction whose addresses were just compared, so the next lookup can skip that.
    just_verified: Option<u32>,
}

/// The cache key of an [`AccessPattern`].
#[derive(Clone, Copy)]
pub struct PatternKey {
    /// Address of the instruction, or of an earlier one in its basic block that accesses the same addresses
    /// plus a constant.
    pub address: u32,
    /// True if the gang has its maximum size.
    pub full: bool,
    /// True if `address` is an earlier instruction's.
    pub reuses_earlier: bool,
}

impl AccessPatterns {
    /// Creates an empty cache for a program of `instructions` instructions.
    pub fn new(instructions: usize) -> AccessPatterns {
        AccessPatterns {
            cached: std::iter::repeat_with(|| [None, None])
                .take(instructions)
                .collect(),
            just_verified: None,
        }
    }

    /// Prepares for another launch, in which no memory is marked as touched yet.
    pub fn start_launch(&mut self) {
        self.just_verified = None;
        for pattern in self.cached.iter_mut().flatten().flatten() {
            pattern.marked = None;
        }
    }

    #[inline(always)]
    fn at(&mut self, key: PatternKey) -> &mut Option<Box<AccessPattern>> {
        &mut self.cached[key.address as usize][usize::from(key.full)]
    }

    /// Returns the pattern of an instruction's addresses, given as one row per warp, or `None` if some
    /// quarter warp is neither uniform nor contiguous. The pattern must be put back.
    #[inline(always)]
    pub fn take<'a>(
        &mut self,
        key: PatternKey,
        size: u64,
        warps: usize,
        rows: impl Fn(usize) -> &'a [u64; LANES] + Copy,
    ) -> Option<Box<AccessPattern>> {
        let just_verified = self.just_verified.take() == Some(key.address);
        let cached = self.at(key);
        if let Some(pattern) = cached
            && (just_verified
                || pattern.warps == warps
                    && (key.reuses_earlier && pattern.matched_last || pattern.matches(rows)))
        {
            pattern.misses = 0;
            pattern.matched_last = true;
            return cached.take();
        }
        self.analyze(key, size, (0..warps).map(rows))
    }

    /// Analyzes addresses that do not match the cached pattern.
    #[inline(never)]
    fn analyze<'a>(
        &mut self,
        key: PatternKey,
        size: u64,
        mut rows: impl Iterator<Item = &'a [u64; LANES]>,
    ) -> Option<Box<AccessPattern>> {
        if let Some(pattern) = self.at(key) {
            pattern.matched_last = false;
        }
        let first = rows.next()?;
        if !matches!(first[1].wrapping_sub(first[0]), step if step == 0 || step == size) {
            // This test rejects most other patterns early.
            return None;
        }
        let mut misses = 0;
        if let Some(pattern) = self.at(key) {
            pattern.misses += 1;
            misses = pattern.misses;
            if misses > MAX_MISSES && !misses.is_multiple_of(RETRY_INTERVAL) {
                return None;
            }
        }
        let pattern = AccessPattern::from_rows(std::iter::once(first).chain(rows), size)?;
        Some(Box::new(AccessPattern { misses, ..pattern }))
    }

    /// Puts a pattern back that the same instruction takes again before any address changes.
    #[inline(always)]
    pub fn put_back_verified(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        self.just_verified = Some(key.address);
        self.put_back(key, pattern);
    }

    /// Discards the knowledge that the addresses match, because they may have changed.
    #[inline(always)]
    pub fn invalidate_verification(&mut self) {
        self.just_verified = None;
    }

    /// Puts back a pattern returned by [`AccessPatterns::take`].
    #[inline(always)]
    pub fn put_back(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        *self.at(key) = Some(pattern);
    }
}
