//! The heap of in-kernel `malloc` and `free`: a piece of device memory shared by the threads of all kernels.
//!
//! Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations".

use crate::memory::lock;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};

/// Alignment of every allocation's address and size.
const UNIT: u64 = 16;

/// A heap in device memory.
#[derive(Debug)]
pub struct Heap {
    /// Start address.
    base: u64,
    /// The size in bytes.
    bytes: u64,
    state: Mutex<HeapState>,
}

/// The free and allocated parts of a heap.
#[derive(Debug)]
pub struct HeapState {
    /// Free parts: size by address. No two are adjacent.
    free: BTreeMap<u64, u64>,
    /// Free parts as (size, address).
    by_size: BTreeSet<(u64, u64)>,
    /// Allocated parts: size by address.
    allocated: HashMap<u64, u64>,
    /// True if an allocation has failed because no free part was large enough.
    pub is_exhausted: bool,
}

impl Heap {
    /// Creates a heap of `bytes` bytes at `base`, all free.
    pub fn new(base: u64, bytes: u64) -> Heap {
        let mut state = HeapState {
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            allocated: HashMap::new(),
            is_exhausted: false,
        };
        state.add(base, bytes / UNIT * UNIT);
        let state = Mutex::new(state);
        Heap { base, bytes, state }
    }

    /// Returns the start address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Locks the heap and returns its state.
    pub fn state(&self) -> MutexGuard<'_, HeapState> {
        lock(&self.state)
    }
}

impl HeapState {
    /// Adds a free part, which must not be adjacent to another free part.
    fn add(&mut self, address: u64, bytes: u64) {
        if bytes > 0 {
            self.free.insert(address, bytes);
            self.by_size.insert((bytes, address));
        }
    }

    /// Removes a free part and returns its size.
    fn remove(&mut self, address: u64) -> Option<u64> {
        let bytes = self.free.remove(&address)?;
        self.by_size.remove(&(bytes, address));
        Some(bytes)
    }

    /// Allocates `bytes` bytes from the smallest free part that fits. Returns 0 if none does.
    pub fn allocate(&mut self, bytes: u64) -> u64 {
        let requested = bytes
            .checked_next_multiple_of(UNIT)
            .filter(|&size| size > 0);
        let fits = |size| self.by_size.range((size, 0)..).next().copied();
        let Some((size, (part, address))) = requested.and_then(|size| Some((size, fits(size)?)))
        else {
            self.is_exhausted |= bytes > 0;
            return 0;
        };
        self.remove(address);
        self.add(address + size, part - size);
        self.allocated.insert(address, size);
        address
    }

    /// Frees the allocation at `address`. Returns false if there is none.
    pub fn free(&mut self, mut address: u64) -> bool {
        let Some(mut bytes) = self.allocated.remove(&address) else {
            return false;
        };
        // Merge the part with free neighbours.
        bytes += self.remove(address + bytes).unwrap_or(0);
        let before = self.free.range(..address).next_back();
        let adjacent = before.filter(|(base, bytes)| **base + **bytes == address);
        if let Some(base) = adjacent.map(|(&base, _)| base) {
            bytes += self.remove(base).unwrap_or(0);
            address = base;
        }
        self.add(address, bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates and frees at random. Allocations never overlap, and in the end one free part remains.
    #[test]
    fn allocations_do_not_overlap_and_freed_parts_merge() {
        let heap = Heap::new(1 << 20, 64 << 10);
        let mut state = heap.state();
        let mut allocated: Vec<(u64, u64)> = Vec::new();
        let mut seed = 1u64;
        let mut full = 0;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = seed >> 33;
            if number % 5 < 3 {
                let bytes = number / 5 % 700 + 1;
                let address = state.allocate(bytes);
                if address == 0 {
                    full += 1;
                    continue;
                }
                assert_eq!(address % UNIT, 0);
                assert!(address >= heap.base() && address + bytes <= heap.base() + (64 << 10));
                let free = |&(other, size): &(u64, u64)| {
                    address + bytes <= other || other + size <= address
                };
                assert!(allocated.iter().all(free));
                allocated.push((address, bytes));
            } else if !allocated.is_empty() {
                let (address, _) = allocated.swap_remove(number as usize % allocated.len());
                assert!(state.free(address));
                assert!(!state.free(address), "freed twice");
            }
        }
        assert!(full > 100, "the heap was never full");
        for (address, _) in allocated {
            assert!(state.free(address));
        }
        assert_eq!(state.free.len(), 1);
        assert_eq!(state.allocate(64 << 10), heap.base());
        assert_eq!(state.allocate(1), 0);
    }

    #[test]
    fn empty_and_oversized_requests_return_null() {
        let heap = Heap::new(4096, 100);
        let mut state = heap.state();
        assert_eq!(state.allocate(0), 0);
        assert_eq!(state.allocate(u64::MAX), 0);
        assert_eq!(state.allocate(97), 0);
        assert_eq!(state.allocate(96), 4096);
        assert!(!state.free(4112));
    }
}
