//! `malloc` and `free` in kernels, which the driver provides: a piece of device memory that threads take parts
//! of, whatever kernel they are of.
//!
//! Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations".

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What every part's address and size are multiples of.
const UNIT: u64 = 16;

/// The memory and which of it is taken.
#[derive(Debug)]
pub struct Heap {
    /// Its first address.
    base: u64,
    parts: Mutex<HeapState>,
}

/// Which parts of a heap are free, and which are taken.
#[derive(Debug)]
pub struct HeapState {
    /// The bytes of each free part, by its address. No two touch.
    free: BTreeMap<u64, u64>,
    /// The same by size, then address.
    by_size: BTreeSet<(u64, u64)>,
    /// The bytes of each part that is taken.
    taken: HashMap<u64, u64>,
}

impl Heap {
    /// Of `bytes` bytes at `base`, all free.
    pub fn new(base: u64, bytes: u64) -> Heap {
        let mut parts = HeapState {
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            taken: HashMap::new(),
        };
        parts.add(base, bytes / UNIT * UNIT);
        let parts = Mutex::new(parts);
        Heap { base, parts }
    }

    /// The address that it begins at.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Its parts, which nobody else changes meanwhile.
    pub fn parts(&self) -> MutexGuard<'_, HeapState> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeapState {
    /// A part becomes free, which touches no free part.
    fn add(&mut self, address: u64, bytes: u64) {
        if bytes > 0 {
            self.free.insert(address, bytes);
            self.by_size.insert((bytes, address));
        }
    }

    /// A part is free no more.
    fn remove(&mut self, address: u64) -> Option<u64> {
        let bytes = self.free.remove(&address)?;
        self.by_size.remove(&(bytes, address));
        Some(bytes)
    }

    /// Takes so many bytes, of the smallest part that has them; 0 where none has.
    pub fn take(&mut self, bytes: u64) -> u64 {
        let wanted = bytes.checked_next_multiple_of(UNIT).filter(|&it| it > 0);
        let fits = |wanted| self.by_size.range((wanted, 0)..).next().copied();
        let Some((wanted, (all, address))) = wanted.and_then(|it| Some((it, fits(it)?))) else {
            return 0;
        };
        self.remove(address);
        self.add(address + wanted, all - wanted);
        self.taken.insert(address, wanted);
        address
    }

    /// Gives back what begins at this address. False where nothing taken does.
    pub fn give_back(&mut self, mut address: u64) -> bool {
        let Some(mut bytes) = self.taken.remove(&address) else {
            return false;
        };
        // Free neighbours become one part with it.
        bytes += self.remove(address + bytes).unwrap_or(0);
        let before = self.free.range(..address).next_back();
        let before = before.filter(|(base, bytes)| **base + **bytes == address);
        if let Some(base) = before.map(|(&base, _)| base) {
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

    /// Takes and gives back at random; the parts never overlap, and in the end all is free as one.
    #[test]
    fn parts_do_not_overlap_and_become_one_again() {
        let heap = Heap::new(1 << 20, 64 << 10);
        let mut parts = heap.parts();
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut state = 1u64;
        let mut full = 0;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let number = state >> 33;
            if number % 5 < 3 {
                let bytes = number / 5 % 700 + 1;
                let address = parts.take(bytes);
                if address == 0 {
                    full += 1;
                    continue;
                }
                assert_eq!(address % UNIT, 0);
                assert!(address >= heap.base() && address + bytes <= heap.base() + (64 << 10));
                let free =
                    |&(other, its): &(u64, u64)| address + bytes <= other || other + its <= address;
                assert!(taken.iter().all(free));
                taken.push((address, bytes));
            } else if !taken.is_empty() {
                let (address, _) = taken.swap_remove(number as usize % taken.len());
                assert!(parts.give_back(address));
                assert!(!parts.give_back(address), "twice");
            }
        }
        assert!(full > 100, "it was never full");
        for (address, _) in taken {
            assert!(parts.give_back(address));
        }
        assert_eq!(parts.free.len(), 1);
        assert_eq!(parts.take(64 << 10), heap.base());
        assert_eq!(parts.take(1), 0);
    }

    #[test]
    fn nothing_and_too_much_are_not_given() {
        let heap = Heap::new(4096, 100);
        let mut parts = heap.parts();
        assert_eq!(parts.take(0), 0);
        assert_eq!(parts.take(u64::MAX), 0);
        assert_eq!(parts.take(97), 0);
        assert_eq!(parts.take(96), 4096);
        assert!(!parts.give_back(4112));
    }
}
