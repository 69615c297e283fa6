//! Shadow state of device memory, per allocation, for the duration of a launch.

use super::blocks::AllocationShadow;
use crate::memory::global::Global;
use crate::memory::init_bitmap::AtomicInitBitmap;
use std::sync::Arc;

/// An allocation with its shadow state.
pub struct TrackedAllocation {
    pub base: u64,
    pub bytes: u64,
    /// The bytes that are initialized. `None` if all are, or if initialization is not tracked.
    pub written: Option<Arc<AtomicInitBitmap>>,
    /// The blocks that access each word. `None` unless [`BlockTracking::ConcurrentBlocks`] is on.
    pub shadow: Option<AllocationShadow>,
}

/// The kind of race detection between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockTracking {
    None,
    /// Nothing orders the blocks: any two blocks that access a word race if one of them writes.
    ConcurrentBlocks,
    /// Blocks may synchronize with each other. They run one after the other, and vector clocks order them.
    SerialBlocks,
}

/// All allocations, sorted by address.
pub struct DeviceAllocations {
    sorted: Vec<TrackedAllocation>,
}

impl DeviceAllocations {
    /// Creates shadow state for all allocations, except the one at address `except`.
    pub fn of(
        global: &Global,
        block_tracking: BlockTracking,
        except: Option<u64>,
    ) -> DeviceAllocations {
        let allocations = global.allocations();
        let allocations = allocations.filter(|allocation| Some(allocation.base) != except);
        DeviceAllocations {
            sorted: allocations
                .map(|allocation| TrackedAllocation {
                    base: allocation.base,
                    bytes: allocation.size,
                    written: global
                        .init_bitmap(allocation.base)
                        .filter(|written| !written.is_prefix_initialized(allocation.size)),
                    shadow: (block_tracking == BlockTracking::ConcurrentBlocks)
                        .then(|| AllocationShadow::new(allocation.size)),
                })
                .collect(),
        }
    }

    /// Returns the index of the allocation that contains `address`, or `None` if no allocation does.
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self
            .sorted
            .partition_point(|allocation| allocation.base <= address);
        let index = after.checked_sub(1)?;
        let allocation = &self.sorted[index];
        (address - allocation.base < allocation.bytes).then_some(index)
    }

    /// Returns the allocation at `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&TrackedAllocation> {
        self.sorted.get(index)
    }

    pub fn iter(&self) -> impl Iterator<Item = &TrackedAllocation> {
        self.sorted.iter()
    }
}

impl TrackedAllocation {
    /// Returns the offset of `address` in the allocation. Returns `None` unless all `bytes` bytes from there
    /// on are inside.
    #[inline(always)]
    pub fn offset(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes && self.bytes - offset >= bytes).then_some(offset)
    }
}
