//! Device memory as the checks see it: what is known of each allocation while a launch runs.

use super::blocks::UsedLines;
use crate::memory::global::Global;
use crate::memory::written::Written;
use std::sync::Arc;

/// An allocation that is looked at.
pub struct Tracked {
    pub base: u64,
    pub bytes: u64,
    /// Which bytes are written. None where all are, or where that is not kept.
    pub written: Option<Arc<Written>>,
    /// Which blocks use each word, if nothing can order the blocks. None where that is not looked at.
    pub lines: Option<UsedLines>,
}

/// What is looked at of how blocks use device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    Nothing,
    /// Uses of one word by several blocks, which nothing orders.
    Blocks,
    /// Uses of one word by several blocks, which may put themselves in order: they run one after
    /// the other.
    BlocksInOrder,
}

/// All allocations, by address.
pub struct Device {
    sorted: Vec<Tracked>,
}

impl Device {
    /// All allocations that there are, but for the one at `except`.
    pub fn of(global: &Global, between: Between, except: Option<u64>) -> Device {
        let allocations = global.allocations();
        let allocations = allocations.filter(|found| Some(found.base) != except);
        Device {
            sorted: allocations
                .map(|found| Tracked {
                    base: found.base,
                    bytes: found.size,
                    written: global
                        .written(found.base)
                        .filter(|written| !written.has_all(found.size)),
                    lines: (between == Between::Blocks).then(|| UsedLines::new(found.size)),
                })
                .collect(),
        }
    }

    /// The number of the allocation that holds `address`, if any does.
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self.sorted.partition_point(|one| one.base <= address);
        let place = after.checked_sub(1)?;
        let found = &self.sorted[place];
        (address - found.base < found.bytes).then_some(place)
    }

    /// The allocation that has this number.
    #[inline(always)]
    pub fn at(&self, place: usize) -> Option<&Tracked> {
        self.sorted.get(place)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Tracked> {
        self.sorted.iter()
    }
}

impl Tracked {
    /// Where in the allocation `address` is; none unless `bytes` bytes from there on are inside.
    #[inline(always)]
    pub fn offset(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes && self.bytes - offset >= bytes).then_some(offset)
    }
}
