//! Shadow memory of the threads of a block: the last accesses to each word of shared memory. The lines of
//! device memory that a block accesses have the same state, concatenated: see
//! [`DeviceShadow`](super::device_shadow::DeviceShadow).
//!
//! Each granule (a word, or a byte if the program has accesses smaller than a word) has the epoch of its last
//! write, and of the last reads by two different warps: of two warps, at least one is not the warp that
//! writes next. The state is a structure of arrays, so that a run of lanes is checked with vector
//! instructions.
//!
//! Reads matter only if another thread writes before the next barrier. Until then they are logged in order,
//! and most are discarded at the barrier.

mod conflicts;
mod record;

pub use conflicts::Conflict;

use super::accessor::Accessor;
use super::lane_runs::LaneRun;
use super::read_log::ReadLog;
use super::selection::Checks;
use crate::memory::init_bitmap::InitBitmap;

/// The stamp of the destination of an asynchronous copy that has not been waited for: later than every access.
pub const PENDING: u32 = u32::MAX;

/// The current access: its warp, its instruction, and whether it writes.
#[derive(Clone, Copy)]
pub struct ShadowAccess {
    pub warp: usize,
    pub site: u32,
    pub write: bool,
}

/// The shadow state of a block's shared memory, or of its lines of device memory. Each vector has one element
/// per granule: the stamp of an access (see [`HappensBefore`](super::happens_before::HappensBefore)), or its
/// [`Accessor`].
pub struct SharedShadow {
    /// The size of the memory in bytes.
    bytes: u64,
    /// The base-2 logarithm of the granule's size in bytes.
    granule: u32,
    /// The stamp of the last write.
    write_time: Vec<u32>,
    /// The accessor of the last write.
    writer: Vec<u32>,
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
            self.write_time.fill(0);
            self.read_time.fill(0);
            self.prior_read_time.fill(0);
        } else if self.pending {
            let pending = self.write_time.iter_mut().filter(|at| **at == PENDING);
            pending.for_each(|at| *at = 0);
        }
        self.reads.clear();
        self.pending = false;
        self.last_write = 0;
    }

    /// Enlarges the memory by `bytes` bytes.
    pub fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        let count = (self.bytes >> self.granule) as usize;
        for row in [
            &mut self.write_time,
            &mut self.writer,
            &mut self.read_time,
            &mut self.reader,
            &mut self.read_lanes,
            &mut self.prior_read_time,
            &mut self.prior_reader,
        ] {
            row.resize(count, 0);
        }
    }

    /// Clears the state of these bytes.
    pub fn clear(&mut self, at: u64, bytes: u64) {
        let range = (at >> self.granule) as usize..((at + bytes) >> self.granule) as usize;
        self.write_time[range.clone()].fill(0);
        self.read_time[range.clone()].fill(0);
        self.prior_read_time[range].fill(0);
    }

    /// Discards the logged reads.
    pub fn forget_reads(&mut self) {
        self.reads.clear();
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

/// Returns true if no two lanes of a run access the same address.
#[inline(always)]
fn has_distinct_addresses(run: &LaneRun) -> bool {
    run.contiguous || run.lanes == 1
}

#[cfg(test)]
mod tests;
