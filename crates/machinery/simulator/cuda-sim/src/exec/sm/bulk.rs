//! Bulk asynchronous copies of a block that are in flight: data on the way to shared memory, which reports to an
//! mbarrier, and copies to device memory, which belong to bulk groups of the threads that started them.

use crate::memory::tensor_map::Swizzle;
use std::collections::BTreeMap;

/// Bytes that stay together in every swizzle.
const UNIT: u64 = 16;

/// The arrangement of a copy's rows in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub row_bytes: u64,
    /// Distance in bytes between the starts of neighbouring rows.
    pub pitch: u64,
    pub swizzle: Swizzle,
}

/// Consecutive bytes of a copy in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the copy's data.
    pub at: usize,
    pub address: u64,
    pub bytes: usize,
}

impl Layout {
    /// Creates the layout of consecutive bytes.
    pub fn linear(bytes: u64) -> Layout {
        Layout {
            row_bytes: bytes,
            pitch: bytes,
            swizzle: Swizzle::None,
        }
    }

    /// Returns the number of bytes that the rows of a copy of `bytes` bytes take in shared memory.
    pub fn span(self, bytes: u64) -> u64 {
        bytes / self.row_bytes.max(1) * self.pitch
    }

    /// Iterates over the pieces of a copy whose first row starts at `start`.
    pub fn pieces(self, start: u64, bytes: u64) -> impl Iterator<Item = Piece> {
        let is_linear = self.pitch == self.row_bytes && self.swizzle == Swizzle::None;
        let unit = if is_linear { bytes.max(1) } else { UNIT };
        (0..bytes.div_ceil(unit)).map(move |number| {
            let at = number * unit;
            let offset = match is_linear {
                true => at,
                false => at / self.row_bytes * self.pitch + at % self.row_bytes,
            };
            Piece {
                at: at as usize,
                address: self.swizzle.apply(start + offset),
                bytes: unit.min(bytes - at) as usize,
            }
        })
    }
}

/// Consecutive bytes of a copy in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Offset in the copy's data.
    pub at: u64,
    pub address: u64,
    pub bytes: u64,
}

/// The operation of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    Add,
    Min,
    Max,
    Increment,
    Decrement,
    And,
    Or,
    Xor,
}

/// The type of a reduction's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operand {
    U32,
    U64,
    S32,
    S64,
    F16,
    BF16,
    F32,
    F64,
}

/// A reduction: an operation of each element of the destination and one of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    pub operation: Operation,
    pub operand: Operand,
}

impl Reduction {
    /// Returns the size of an element in bytes.
    pub fn bytes(self) -> u64 {
        match self.operand {
            Operand::F16 | Operand::BF16 => 2,
            Operand::U32 | Operand::S32 | Operand::F32 => 4,
            Operand::U64 | Operand::S64 | Operand::F64 => 8,
        }
    }
}

/// Data on the way to shared memory. In a cluster, the addresses contain the ranks of blocks.
pub struct Delivery {
    /// Address of the barrier to which the copy reports its bytes.
    pub barrier: u64,
    pub to: u64,
    pub layout: Layout,
    pub data: Vec<u8>,
    pub reduction: Option<Reduction>,
}

/// A copy from shared to device memory.
pub struct BulkStore {
    /// Index of the thread in its block.
    pub thread: u32,
    pub group: u32,
    pub from: u64,
    pub layout: Layout,
    pub runs: Vec<Run>,
    /// Number of bytes in shared memory.
    pub bytes: u64,
    /// The source, once it has been read.
    pub data: Option<Vec<u8>>,
    pub reduction: Option<Reduction>,
}

/// The copies of a block that are in flight.
#[derive(Default)]
pub struct BulkCopies {
    /// Copies that report to a barrier of the block. Those in a cluster are in its state.
    pub deliveries: Vec<Delivery>,
    /// Copies to device memory, in the order in which they started.
    stores: Vec<BulkStore>,
    /// Number of groups that each thread has committed. New copies belong to the next group.
    closed: BTreeMap<u32, u32>,
}

impl BulkCopies {
    /// Removes all copies.
    pub fn reset(&mut self) {
        self.deliveries.clear();
        self.stores.clear();
        self.closed.clear();
    }

    /// Starts a copy to device memory in the current group of its thread.
    pub fn start(&mut self, store: BulkStore) {
        let group = self.closed.get(&store.thread).copied().unwrap_or(0);
        self.stores.push(BulkStore { group, ..store });
    }

    /// Commits the current group of a thread.
    pub fn commit(&mut self, thread: u32) {
        *self.closed.entry(thread).or_default() += 1;
    }

    /// Iterates over the copies of a thread except for those in its newest `pending` groups and in the current one.
    pub fn waited_for(
        &mut self,
        thread: u32,
        pending: u32,
    ) -> impl Iterator<Item = &mut BulkStore> {
        let closed = self.closed.get(&thread).copied().unwrap_or(0);
        let is_awaited = move |store: &&mut BulkStore| store.is_awaited(thread, closed, pending);
        self.stores.iter_mut().filter(is_awaited)
    }

    /// Removes and returns the copies of a thread except for those in its newest `pending` groups and in the current one.
    pub fn take_waited_for(&mut self, thread: u32, pending: u32) -> Vec<BulkStore> {
        let closed = self.closed.get(&thread).copied().unwrap_or(0);
        let is_awaited = |store: &mut BulkStore| store.is_awaited(thread, closed, pending);
        self.stores.extract_if(.., is_awaited).collect()
    }

    /// Removes and returns all copies to device memory.
    pub fn take_stores(&mut self) -> Vec<BulkStore> {
        std::mem::take(&mut self.stores)
    }
}

impl BulkStore {
    fn is_awaited(&self, thread: u32, closed: u32, pending: u32) -> bool {
        self.thread == thread && closed.wrapping_sub(self.group) > pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_gaps_are_separate_pieces() {
        let layout = Layout {
            row_bytes: 32,
            pitch: 64,
            swizzle: Swizzle::Span64,
        };
        let addresses: Vec<u64> = layout.pieces(256, 128).map(|piece| piece.address).collect();
        // The third line of 128 bytes exchanges its even and odd units.
        assert_eq!(
            addresses,
            [288, 304, 352, 368, 432, 416, 496, 480].map(|address: u64| address)
        );
        let linear: Vec<Piece> = Layout::linear(4096).pieces(16, 4096).collect();
        assert_eq!(linear.len(), 1);
        assert_eq!((linear[0].address, linear[0].bytes), (16, 4096));
    }

    #[test]
    fn waits_leave_the_newest_groups_and_other_threads() {
        let store = |thread| BulkStore {
            thread,
            group: 0,
            from: 0,
            layout: Layout::linear(16),
            runs: Vec::new(),
            bytes: 16,
            data: None,
            reduction: None,
        };
        let mut copies = BulkCopies::default();
        for _ in 0..3 {
            copies.start(store(1));
            copies.commit(1);
        }
        copies.start(store(1));
        copies.start(store(2));
        copies.commit(2);
        assert_eq!(copies.take_waited_for(1, 3).len(), 0);
        assert_eq!(copies.waited_for(1, 1).count(), 2);
        assert_eq!(copies.take_waited_for(1, 1).len(), 2);
        assert_eq!(copies.take_waited_for(1, 0).len(), 1);
        assert_eq!(copies.take_stores().len(), 2);
    }
}
