//! Who wrote and who read each word of a block's shared memory last. The same is kept of the lines of
//! device memory that a block uses, laid one behind the other: see
//! [`DeviceShadow`](super::device_shadow::DeviceShadow).
//!
//! Of each granule (a word, or a byte in a program that accesses less than a word) the last write
//! is known and the last reads by two warps: of two different warps at least one is another than
//! whoever writes next. What is known is kept as one array each, so that a run of lanes is looked
//! at with wide instructions.
//!
//! Reads matter to whoever writes before the next barrier. Until somebody does they are only put
//! down, one after the other, and most are forgotten at the barrier.

mod conflicts;
mod notes;

pub use conflicts::Conflict;

use super::accessor::Who;
use super::choice::Checks;
use super::reads::Reads;
use super::runs::LaneRun;
use crate::memory::written::Bits;

/// The stamp of what an asynchronous copy writes, as long as nobody has waited for it: after
/// everything.
pub const PENDING: u32 = u32::MAX;

/// The access that is looked at: which warp does it, and at which instruction.
#[derive(Clone, Copy)]
pub struct Now {
    pub warp: usize,
    pub site: u32,
    pub write: bool,
}

/// What is known of a block's shared memory, or of its lines of device memory. Each vector has an element for every granule: the
/// stamp of an access (see [`Order`](super::order::Order)), or who did it, as an [`Who`].
pub struct SharedShadow {
    /// How large the memory is.
    bytes: u64,
    /// log2 of the bytes of a granule.
    granule: u32,
    /// When the last write was.
    written_at: Vec<u32>,
    /// Who did the last write.
    written_by: Vec<u32>,
    /// When the last read was.
    read_at: Vec<u32>,
    /// Who did the last read.
    read_by: Vec<u32>,
    /// The lanes of the warp that did the last read, as a mask.
    read_lanes: Vec<u32>,
    /// When the last read was by another warp than the one that did the last read.
    before_at: Vec<u32>,
    /// Who did that earlier read.
    before_by: Vec<u32>,
    /// Reads that are not in the vectors yet.
    reads: Reads,
    /// The block has started an asynchronous copy.
    pending: bool,
    /// The latest stamp of any write.
    last_write: u32,
    /// Which bytes this block has written; empty where that is not checked.
    pub written: Bits,
}

impl SharedShadow {
    /// Of a memory of `bytes` bytes, of which `granule` bytes at a time are one granule.
    pub fn new(bytes: u32, granule: u32, checks: Checks) -> SharedShadow {
        let shift = granule.trailing_zeros();
        let raced = if checks.race { bytes } else { 0 };
        let row = || vec![0; raced.div_ceil(granule) as usize];
        SharedShadow {
            bytes: bytes.into(),
            granule: shift,
            written_at: row(),
            written_by: row(),
            read_at: row(),
            read_by: row(),
            read_lanes: row(),
            before_at: row(),
            before_by: row(),
            reads: Reads::default(),
            pending: false,
            last_write: 0,
            written: Bits::new(if checks.init { bytes.into() } else { 0 }),
        }
    }

    /// A block begins. Its stamps are above all that are here, unless they begin `anew`.
    pub fn begin(&mut self, anew: bool) {
        self.written.clear();
        if anew {
            self.written_at.fill(0);
            self.read_at.fill(0);
            self.before_at.fill(0);
        } else if self.pending {
            let pending = self.written_at.iter_mut().filter(|at| **at == PENDING);
            pending.for_each(|at| *at = 0);
        }
        self.reads.clear();
        self.pending = false;
        self.last_write = 0;
    }

    /// The memory has so many bytes more.
    pub fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        let count = (self.bytes >> self.granule) as usize;
        for row in [
            &mut self.written_at,
            &mut self.written_by,
            &mut self.read_at,
            &mut self.read_by,
            &mut self.read_lanes,
            &mut self.before_at,
            &mut self.before_by,
        ] {
            row.resize(count, 0);
        }
    }

    /// Nobody has used these bytes yet.
    pub fn clear(&mut self, at: u64, bytes: u64) {
        let range = (at >> self.granule) as usize..((at + bytes) >> self.granule) as usize;
        self.written_at[range.clone()].fill(0);
        self.read_at[range.clone()].fill(0);
        self.before_at[range].fill(0);
    }

    /// Forgets the reads that are put down.
    pub fn forget_reads(&mut self) {
        self.reads.clear();
    }

    /// Whether `bytes` bytes from `at` on are inside the memory.
    #[inline(always)]
    pub fn holds(&self, at: u64, bytes: u64) -> bool {
        at < self.bytes && self.bytes - at >= bytes
    }

    /// The first granule of a run, how many there are, and log2 of how many each lane has (31 where
    /// all lanes access one place: then all granules are the first lane's).
    #[inline(always)]
    fn granules(&self, run: &LaneRun, bytes: u64) -> (usize, usize, u32) {
        let first = (run.start >> self.granule) as usize;
        let count = (run.span(bytes) >> self.granule).max(1) as usize;
        let each = if run.apart {
            (bytes >> self.granule).max(1).trailing_zeros()
        } else {
            31
        };
        (first, count, each)
    }

    /// A lane has begun to copy to `bytes` bytes at `at`, or has waited for that: then they are as
    /// if written at `stamp`.
    pub fn copied(&mut self, stamp: u32, who: Who, at: u64, bytes: u64) {
        self.pending |= stamp == PENDING;
        self.last_write = self.last_write.max(stamp);
        let first = (at >> self.granule) as usize;
        let count = (bytes >> self.granule).max(1) as usize;
        self.written_at[first..first + count].fill(stamp);
        if stamp == PENDING {
            self.written_by[first..first + count].fill(who.0);
        }
    }
}

/// Whether no place of a run is accessed by several of its lanes.
#[inline(always)]
fn is_single(run: &LaneRun) -> bool {
    run.apart || run.lanes == 1
}

#[cfg(test)]
mod tests;
