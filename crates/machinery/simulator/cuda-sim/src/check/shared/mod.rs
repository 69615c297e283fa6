//! Shadow memory of the threads of a block: the last accesses to each word of shared memory. The lines of
//! device memory that a block accesses have the same state, concatenated: see
//! [`DeviceShadow`](super::device_shadow::DeviceShadow).
//!
//! Each granule (a word, or a byte if the program has accesses smaller than a word) has the epoch of its last
//! plain write, and of the last reads by two different warps: of two warps, at least one is not the warp that
//! writes next. The last ordered writes (atomics and volatile stores) by two different warps are kept apart from the
//! plain one, with which they race although not with each other. The state is a structure of arrays, so that a run of
//! lanes is checked with vector instructions.
//!
//! Reads matter only if another thread writes before the next barrier. Until then they are logged in order,
//! and most are discarded at the barrier.

use std::ops::Range;

use super::happens_before::HappensBefore;
use super::lane_runs::{Accessor, Addresses, LaneRun, LaneRuns, SITE_BITS};
use super::selection::Checks;
use crate::lanes::{FULL, LANES, LANES_PER_QUARTER, Quarter, active, quarters};
use crate::memory::init_bitmap::InitBitmap;

/// The stamp of the destination of an asynchronous copy that has not been waited for: later than every access.
pub const PENDING: u32 = u32::MAX;

/// The current access: its warp, its instruction, and its effect.
#[derive(Clone, Copy)]
pub struct ShadowAccess {
    pub warp: usize,
    pub site: u32,
    pub write: bool,
    /// True for an atomic and for a volatile or otherwise ordered access.
    pub ordered: bool,
    /// True for an atomic that reads. Such atomics do not race with each other.
    pub atomic: bool,
}

/// The shadow state of a block's shared memory, or of its lines of device memory. Each vector has one element
/// per granule: the stamp of an access (see [`HappensBefore`](super::happens_before::HappensBefore)), or its
/// [`Accessor`].
pub struct SharedShadow {
    /// The size of the memory in bytes.
    bytes: u64,
    /// The base-2 logarithm of the granule's size in bytes.
    granule: u32,
    /// The stamp of the last plain write.
    write_time: Vec<u32>,
    /// The accessor of the last plain write.
    writer: Vec<u32>,
    /// The last ordered writes.
    ordered: OrderedWrites,
    /// The stamp of the last read.
    read_time: Vec<u32>,
    /// The accessor of the last read.
    reader: Vec<u32>,
    /// A mask of the lanes that did the last read.
    read_lanes: Vec<u32>,
    /// The stamp of the last read by a different warp than the last reader.
    prior_read_time: Vec<u32>,
    /// The accessor of that earlier read.
    prior_reader: Vec<u32>,
    /// Reads that are not in the vectors yet.
    reads: ReadLog,
    /// True if the block has started an asynchronous copy.
    pending: bool,
    /// The latest stamp of any write.
    last_write: u32,
    /// The bytes that this block has written. Empty if initialization is not checked.
    pub written: InitBitmap,
}

impl SharedShadow {
    /// Creates the state of a memory of `bytes` bytes, with one element per `granule` bytes.
    pub fn new(bytes: u32, granule: u32, checks: Checks) -> SharedShadow {
        let shift = granule.trailing_zeros();
        let raced = if checks.race { bytes } else { 0 };
        let row = || vec![0; raced.div_ceil(granule) as usize];
        SharedShadow {
            bytes: bytes.into(),
            granule: shift,
            write_time: row(),
            writer: row(),
            ordered: OrderedWrites {
                last_time: row(),
                last: row(),
                prior_time: row(),
                prior: row(),
                latest: 0,
                latest_store: 0,
            },
            read_time: row(),
            reader: row(),
            read_lanes: row(),
            prior_read_time: row(),
            prior_reader: row(),
            reads: ReadLog::default(),
            pending: false,
            last_write: 0,
            written: InitBitmap::new(if checks.init { bytes.into() } else { 0 }),
        }
    }

    /// Resets the state for a new block. Its stamps are above all stored ones, unless stamps restart at 0.
    pub fn begin(&mut self, restarts: bool) {
        self.written.clear();
        if restarts {
            self.clear_stamps();
        } else if self.pending {
            let pending = self.write_time.iter_mut().filter(|at| **at == PENDING);
            pending.for_each(|at| *at = 0);
        }
        self.reads.clear();
        self.pending = false;
        self.last_write = 0;
        (self.ordered.latest, self.ordered.latest_store) = (0, 0);
    }

    /// Enlarges the memory by `bytes` bytes.
    pub fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        let count = (self.bytes >> self.granule) as usize;
        for row in [
            &mut self.write_time,
            &mut self.writer,
            &mut self.ordered.last_time,
            &mut self.ordered.last,
            &mut self.ordered.prior_time,
            &mut self.ordered.prior,
            &mut self.read_time,
            &mut self.reader,
            &mut self.read_lanes,
            &mut self.prior_read_time,
            &mut self.prior_reader,
        ] {
            row.resize(count, 0);
        }
    }

    /// Forgets all accesses, except for the bytes that are initialized.
    pub fn forget(&mut self) {
        self.reads.clear();
        self.clear_stamps();
    }

    /// Clears the stamps of all accesses that are not only logged.
    fn clear_stamps(&mut self) {
        self.write_time.fill(0);
        self.ordered.last_time.fill(0);
        self.ordered.prior_time.fill(0);
        self.read_time.fill(0);
        self.prior_read_time.fill(0);
    }

    /// Returns true if `bytes` bytes from `at` on are inside the memory.
    #[inline(always)]
    pub fn contains(&self, at: u64, bytes: u64) -> bool {
        at < self.bytes && self.bytes - at >= bytes
    }

    /// Returns the first granule of a run, the number of granules, and the base-2 logarithm of the granules
    /// per lane. The latter is 31 if all lanes access one address, so that shifting by it attributes all
    /// granules to the first lane.
    #[inline(always)]
    fn granules(&self, run: &LaneRun, bytes: u64) -> (usize, usize, u32) {
        let first = (run.start >> self.granule) as usize;
        let count = (run.span(bytes) >> self.granule).max(1) as usize;
        let lane_shift = if run.contiguous {
            (bytes >> self.granule).max(1).trailing_zeros()
        } else {
            31
        };
        (first, count, lane_shift)
    }

    /// Records that a lane has started a copy to `bytes` bytes at `at` (`stamp` is [`PENDING`]), or has
    /// waited for it: then the bytes count as written at `stamp`.
    pub fn record_copy(&mut self, stamp: u32, accessor: Accessor, at: u64, bytes: u64) {
        self.pending |= stamp == PENDING;
        self.last_write = self.last_write.max(stamp);
        let first = (at >> self.granule) as usize;
        let count = (bytes >> self.granule).max(1) as usize;
        self.write_time[first..first + count].fill(stamp);
        if stamp == PENDING {
            self.writer[first..first + count].fill(accessor.0);
        }
    }
}

/// The ordered writes by the last two different warps, with one element per granule.
struct OrderedWrites {
    /// The stamp of the last ordered write.
    last_time: Vec<u32>,
    /// The accessor of the last ordered write.
    last: Vec<u32>,
    /// The stamp of the last ordered write by a different warp than that of the last one.
    prior_time: Vec<u32>,
    /// The accessor of that earlier ordered write.
    prior: Vec<u32>,
    /// The latest stamp of any ordered write.
    latest: u32,
    /// The latest stamp of an ordered write other than an atomic.
    latest_store: u32,
}

impl OrderedWrites {
    /// Records a write by a warp to granules from `first` on, each with its accessor.
    fn record(&mut self, stamp: u32, first: usize, accessors: impl Iterator<Item = u32>) {
        self.latest = self.latest.max(stamp);
        for (granule, by) in (first..).zip(accessors) {
            let last = self.last[granule];
            if Accessor(last).warp() != Accessor(by).warp() {
                self.prior[granule] = last;
                self.prior_time[granule] = self.last_time[granule];
            }
            (self.last[granule], self.last_time[granule]) = (by, stamp);
        }
    }
}

/// Returns true if no two lanes of a run access the same address.
#[inline(always)]
fn has_distinct_addresses(run: &LaneRun) -> bool {
    run.contiguous || run.lanes == 1
}

impl SharedShadow {
    /// Records an access.
    #[inline(always)]
    pub fn record(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
    ) {
        let stamp = order.stamp(access.warp);
        if access.write {
            return self.record_write(stamp, access, run, bytes);
        }
        let accessor = Accessor::new(access.warp, 0, access.site);
        if order.only_block_barriers() {
            self.log_read(order, Read::of_run((stamp, accessor), run, bytes));
        } else {
            self.record_read(order, (stamp, accessor), run, bytes);
        }
    }

    /// Logs a full warp's read and returns true if nothing else needs to be checked: no thread has written
    /// since the last barrier, and the bytes are in bounds and initialized. Otherwise returns false.
    #[inline(always)]
    pub fn try_log_read(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        at: Addresses,
        bytes: u64,
    ) -> bool {
        if self.last_write >= order.floor() || !order.only_block_barriers() {
            return false;
        }
        let Some(quarters) = quarters(at.row, at.offset, bytes) else {
            return false;
        };
        let mut valid = true;
        for Quarter { start, contiguous } in quarters {
            let span = if contiguous {
                bytes * LANES_PER_QUARTER as u64
            } else {
                bytes
            };
            valid &= self.contains(start, span)
                && start & (bytes - 1) == 0
                && self.written.is_initialized(start, span);
        }
        if valid {
            let accessor = (
                order.stamp(access.warp),
                Accessor::new(access.warp, 0, access.site),
            );
            self.log_read(order, Read::of_quarters(accessor, &quarters, bytes));
        }
        valid
    }

    #[inline(always)]
    fn record_write(&mut self, stamp: u32, access: ShadowAccess, run: &LaneRun, bytes: u64) {
        let (first, count, lane_shift) = self.granules(run, bytes);
        let range = first..first + count;
        self.last_write = self.last_write.max(stamp);
        // If several lanes write to one address, the last lane's value remains.
        let lane = if run.contiguous {
            run.first
        } else {
            run.first + run.lanes - 1
        };
        let accessor = Accessor::new(access.warp, lane, access.site).0;
        let by = |k: u32| accessor + ((k >> lane_shift) << SITE_BITS);
        if access.ordered {
            if !access.atomic {
                self.ordered.latest_store = self.ordered.latest_store.max(stamp);
            }
            return self.ordered.record(stamp, first, (0..count as u32).map(by));
        }
        self.write_time[range.clone()].fill(stamp);
        for (k, writer) in (0u32..).zip(&mut self.writer[range]) {
            *writer = by(k);
        }
    }

    /// Applies the logged reads. Required before a write, and before anything other than a barrier of the
    /// whole block orders warps.
    #[inline(always)]
    pub fn flush_reads(&mut self, order: &HappensBefore) {
        if !self.reads.is_empty() {
            self.replay_log(order);
        }
    }

    #[inline(never)]
    fn replay_log(&mut self, order: &HappensBefore) {
        let mut reads = std::mem::take(&mut self.reads);
        for read in reads.since(order.floor()) {
            read.runs(|run, bytes| {
                self.record_read(order, (read.stamp, read.accessor), run, bytes)
            });
        }
        reads.clear();
        self.reads = reads;
    }

    #[inline(always)]
    fn record_read(
        &mut self,
        order: &HappensBefore,
        (stamp, accessor): (u32, Accessor),
        run: &LaneRun,
        bytes: u64,
    ) {
        let (first, count, lane_shift) = self.granules(run, bytes);
        let range = first..first + count;
        if order.only_block_barriers() && self.has_two_readers(order.floor(), range.clone()) {
            // The next writer conflicts with at least one of the two readers, so a third adds nothing.
            return;
        }
        let (accessor, warp) = (accessor.0, accessor.warp() as u32);
        let lanes = run.mask();
        let single = has_distinct_addresses(run);
        let read_time = &mut self.read_time[range.clone()];
        let reader = &mut self.reader[range.clone()];
        let read_lanes = &mut self.read_lanes[range.clone()];
        let prior_read_time = &mut self.prior_read_time[range.clone()];
        let prior_reader = &mut self.prior_reader[range];
        for k in 0..count {
            let lane = run.first as u32 + (k as u32 >> lane_shift);
            let own_lanes = if single { 1 << (lane & 31) } else { lanes };
            let (at, by) = (read_time[k], reader[k]);
            let own_warp = by >> (SITE_BITS + 5) == warp;
            let repeated = own_warp & (at == stamp);
            read_lanes[k] = if repeated {
                read_lanes[k] | own_lanes
            } else {
                own_lanes
            };
            prior_read_time[k] = if own_warp { prior_read_time[k] } else { at };
            prior_reader[k] = if own_warp { prior_reader[k] } else { by };
            read_time[k] = stamp;
            reader[k] = accessor + (lane << SITE_BITS);
        }
    }

    /// Returns true if two warps have read each of these granules since the last barrier.
    #[inline(always)]
    fn has_two_readers(&self, floor: u32, range: Range<usize>) -> bool {
        let reads = self.read_time[range.clone()].iter();
        let pairs = reads.zip(&self.prior_read_time[range]);
        pairs.fold(true, |all, (&read, &prior)| {
            all & (read >= floor) & (prior >= floor)
        })
    }

    #[inline(always)]
    fn log_read(&mut self, order: &HappensBefore, read: Read) {
        if !self.reads.has_room(order.floor()) {
            self.flush_reads(order);
            self.reads.begin(order.floor());
        }
        self.reads.push(read);
    }
}

/// Two accesses to one granule that nothing orders.
#[derive(Clone, Copy)]
pub struct Conflict {
    /// The lane of the current access.
    pub lane: usize,
    pub other: Accessor,
    /// The stamp of the other access.
    pub stamp: u32,
    pub other_wrote: bool,
    /// True if the other access is an asynchronous copy that has not been waited for.
    pub pending: bool,
}

impl SharedShadow {
    /// Returns true if a run of lanes, all of it in bounds, may conflict with earlier accesses. May return
    /// true without a conflict: it compares stamps only with the floors, in a form that the compiler
    /// vectorizes.
    #[inline(always)]
    pub fn may_conflict(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
    ) -> bool {
        let (floor, warp_floor) = (order.floor(), order.warp_floor(access.warp));
        if !access.write && self.last_write < floor {
            // No thread has written since the last barrier.
            return false;
        }
        let (first, count, lane_shift) = self.granules(run, bytes);
        let warp = access.warp as u32;
        let range = first..first + count;
        let written = self.write_time[range.clone()].iter();
        let mut suspect = false;
        for (k, (&at, &by)) in (0u32..).zip(written.zip(&self.writer[range.clone()])) {
            let thread = by >> SITE_BITS;
            let lane = run.first as u32 + (k >> lane_shift);
            let same = (thread == (warp << 5 | lane)) & has_distinct_addresses(run);
            let limit = if thread >> 5 == warp {
                warp_floor
            } else {
                floor
            };
            suspect |= (at >= limit) & (!same | (at == PENDING));
        }
        let latest = if access.atomic {
            self.ordered.latest_store
        } else {
            self.ordered.latest
        };
        if latest >= floor {
            let last = self.ordered.last_time[range.clone()].iter();
            let prior = self.ordered.prior_time[range.clone()].iter();
            suspect |= last.chain(prior).any(|&at| at >= floor);
        }
        if access.write {
            let reads = self.read_time[range.clone()]
                .iter()
                .zip(&self.reader[range.clone()])
                .zip(&self.read_lanes[range.clone()]);
            for (k, ((&at, &by), &read)) in (0u32..).zip(reads) {
                let lane = run.first as u32 + (k >> lane_shift);
                let own_warp = by >> (SITE_BITS + 5) == warp;
                let own_lanes = if has_distinct_addresses(run) {
                    1 << lane
                } else {
                    0
                };
                let limit = if own_warp { warp_floor } else { floor };
                suspect |= (at >= limit) & (!own_warp | (read & !own_lanes != 0));
            }
            let prior = self.prior_read_time[range.clone()].iter();
            for (&at, &by) in prior.zip(&self.prior_reader[range]) {
                suspect |= (at >= floor) & (by >> (SITE_BITS + 5) != warp);
            }
        }
        suspect
    }

    /// Returns the conflicts of a run, at most one per lane. `is_race` returns false for an earlier access that does not
    /// race with the current one even if nothing orders them.
    #[cold]
    pub fn find_conflicts(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
        is_race: impl Fn(Accessor) -> bool,
    ) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        let (first, count, lane_shift) = self.granules(run, bytes);
        for k in 0..count {
            let granule = first + k;
            let lanes = if run.contiguous {
                let lane = run.first + (k >> lane_shift);
                lane..lane + 1
            } else {
                run.first..run.first + run.lanes
            };
            for lane in lanes {
                let conflict = self.find_conflict(order, access, granule, lane, &is_race);
                if let Some(conflict) = conflict
                    && conflicts.last().is_none_or(|last| last.lane < lane)
                {
                    conflicts.push(conflict);
                }
            }
        }
        conflicts
    }

    fn find_conflict(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        granule: usize,
        lane: usize,
        is_race: &impl Fn(Accessor) -> bool,
    ) -> Option<Conflict> {
        let ordered = |stamp: u32, other: Accessor| {
            let before = if other.warp() == access.warp {
                order.happens_before_in_warp(access.warp, stamp, other.lane(), lane)
            } else {
                order.happens_before(stamp, other.warp(), access.warp)
            };
            before || !is_race(other)
        };
        let own_thread = Accessor::new(access.warp, lane, 0).thread();
        let write = |at: u32, by: Accessor| {
            let pending = at == PENDING;
            (pending || by.thread() != own_thread && !ordered(at, by)).then_some(Conflict {
                lane,
                other: by,
                stamp: at,
                other_wrote: true,
                pending,
            })
        };
        let OrderedWrites {
            last_time,
            last,
            prior_time,
            prior,
            ..
        } = &self.ordered;
        let writes = [
            (self.write_time[granule], self.writer[granule]),
            (last_time[granule], last[granule]),
            (prior_time[granule], prior[granule]),
        ];
        // Ordered accesses hardly ever race with each other: the last one is enough.
        let count = if access.ordered { 2 } else { 3 };
        let mut conflicts =
            (writes[..count].iter()).filter_map(|&(at, by)| write(at, Accessor(by)));
        if let Some(first) = conflicts.next() {
            // A conflict with another warp shows that ordering this one is not enough.
            let is_between =
                |conflict: &Conflict| conflict.pending || conflict.other.warp() != access.warp;
            return Some(match is_between(&first) {
                true => first,
                false => conflicts.find(is_between).unwrap_or(first),
            });
        }
        if !access.write {
            return None;
        }
        let read = |other: Accessor, stamp: u32| {
            Some(Conflict {
                lane,
                other,
                stamp,
                other_wrote: false,
                pending: false,
            })
        };
        let (at, by) = (self.read_time[granule], Accessor(self.reader[granule]));
        if by.warp() == access.warp {
            let others = self.read_lanes[granule] & !(1 << lane);
            for other in active(others) {
                let by = Accessor::new(access.warp, other, by.site());
                if !ordered(at, by) {
                    return read(by, at);
                }
            }
        } else if !ordered(at, by) {
            let lane = self.read_lanes[granule].trailing_zeros() as usize & 31;
            return read(Accessor::new(by.warp(), lane, by.site()), at);
        }
        let (at, by) = (
            self.prior_read_time[granule],
            Accessor(self.prior_reader[granule]),
        );
        if by.warp() != access.warp && !ordered(at, by) {
            return read(by, at);
        }
        None
    }
}

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
mod tests;
