//! Virtual memory management: address ranges are reserved, and memory is mapped into them piece by piece. The
//! pages of a reserved range are contiguous on the host, so that adjacent mappings form one range.

use super::addresses::Addresses;
use super::allocation::LiveAllocation;
use super::{ALIGNMENT, Allocation, AllocationKind, Global, NotAllocated, OutOfMemory};
use std::sync::Mutex;

/// A reserved address range.
pub(super) struct Window {
    pub size: u64,
    addresses: Addresses,
}

impl Global {
    /// Reserves `bytes` addresses at a multiple of `alignment`, which must be a power of two. The range takes
    /// neither device memory nor host memory until memory is mapped into it.
    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, OutOfMemory> {
        let (address, past) = self.place(bytes, alignment.max(ALIGNMENT))?;
        let addresses = Addresses::new(bytes).ok_or_else(|| self.out_of_memory(bytes))?;
        self.next = past;
        let window = Window {
            size: bytes,
            addresses,
        };
        self.windows.insert(address, window);
        Ok(address)
    }

    /// Releases a reservation made by [`Global::reserve`] with this address and length. Fails if there is no
    /// such reservation or if memory is still mapped into it.
    pub fn unreserve(&mut self, address: u64, bytes: u64) -> Result<(), NotAllocated> {
        let window = self.windows.get(&address);
        let known = window.is_some_and(|window| window.size == bytes);
        let empty = self.pieces(address, bytes).is_empty();
        if !known || !empty {
            return Err(NotAllocated(address));
        }
        self.windows.remove(&address);
        Ok(())
    }

    /// Allocates memory of the current device that is not mapped anywhere yet.
    pub fn take(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        self.used[self.device as usize] += bytes;
        Ok(())
    }

    /// Frees memory that [`Global::take`] allocated on the same device.
    pub fn give_back(&mut self, bytes: u64) {
        self.used[self.device as usize] -= bytes;
    }

    /// Returns the host pointer to a range inside one reservation. The range is inaccessible until
    /// [`Global::fill_window`] commits host memory to it.
    pub fn window(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let (window, offset) = self.window_of(address, bytes)?;
        Some(window.addresses.start.wrapping_add(offset as usize))
    }

    /// Commits host memory to whole pages of a reservation. Fails if the host is out of memory.
    pub fn fill_window(&self, address: u64, bytes: u64) -> Result<(), OutOfMemory> {
        let filled = self
            .window_of(address, bytes)
            .is_some_and(|(window, offset)| {
                // SAFETY: `window_of` has checked that the range is inside the reservation.
                unsafe { window.addresses.fill(offset, bytes) }
            });
        match filled {
            true => Ok(()),
            false => Err(self.out_of_memory(bytes)),
        }
    }

    /// Returns the host memory of whole pages of a reservation to the system. The pages must not be in use.
    pub fn empty_window(&self, address: u64, bytes: u64) {
        if let Some((window, offset)) = self.window_of(address, bytes) {
            // SAFETY: `window_of` has checked that the range is inside the reservation, and callers do not
            // use the pages any more.
            unsafe { window.addresses.empty(offset, bytes) }
        }
    }

    /// Returns the reservation that contains all of these addresses, and the offset of the first.
    fn window_of(&self, address: u64, bytes: u64) -> Option<(&Window, u64)> {
        let (&start, window) = self.windows.range(..=address).next_back()?;
        let offset = address - start;
        (offset.checked_add(bytes)? <= window.size).then_some((window, offset))
    }

    /// Maps memory of the current device into part of a reservation. No kernel can access it before
    /// [`Global::set_reach`]. Fails if the range is not reserved or memory is mapped there already.
    pub fn open(&mut self, address: u64, bytes: u64) -> Result<(), NotAllocated> {
        let host = self.window(address, bytes).ok_or(NotAllocated(address))?;
        if !self.pieces(address, bytes).is_empty() {
            return Err(NotAllocated(address));
        }
        self.made += 1;
        let entry = LiveAllocation {
            size: bytes,
            host,
            kind: AllocationKind::Mapped,
            home: self.device,
            reach: AllocationKind::Mapped.reach(),
            backing: None,
            touched: Mutex::default(),
            order: self.made,
            name: None,
            written: None,
        };
        self.entries.insert(address, entry);
        Ok(())
    }

    /// Removes the mapping made by [`Global::open`] at `address`.
    pub fn close(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == AllocationKind::Mapped)
    }

    /// Returns the mappings in an address range.
    fn pieces(&self, address: u64, bytes: u64) -> Vec<Allocation> {
        let end = address.saturating_add(bytes);
        let pieces = self.entries.range(address..end);
        pieces.map(|(&base, entry)| entry.at(base)).collect()
    }

    /// Returns the end of the host-contiguous memory that starts at `found`: the end of the allocation,
    /// extended over adjacent mappings until at least `bytes` bytes are covered.
    pub(super) fn together(&self, found: Allocation, bytes: u64) -> u64 {
        let mut end = found.base + found.size;
        if found.kind != AllocationKind::Mapped {
            return end;
        }
        while end - found.base < bytes {
            match self.entries.get(&end) {
                Some(next) if next.kind == AllocationKind::Mapped => end += next.size,
                _ => break,
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_range_are_one_on_the_host() {
        const PIECE: u64 = 4096;
        let mut global = Global::new(1 << 20);
        let range = global.reserve(4 * PIECE, 2 * PIECE).unwrap();
        assert_eq!(range % (2 * PIECE), 0);
        assert_eq!(global.free_bytes(), 1 << 20, "addresses are no memory");
        assert_eq!(global.host(range, 1), None);
        global.open(range, PIECE).unwrap();
        global.open(range + PIECE, PIECE).unwrap();
        global.open(range + 3 * PIECE, PIECE).unwrap();
        let host = global.host(range, 2 * PIECE).unwrap();
        assert_eq!(
            global.host(range + 1, 2 * PIECE - 1),
            Some(host.wrapping_add(1))
        );
        assert_eq!(global.host(range, 2 * PIECE + 1), None, "a hole");
        assert_eq!(
            global.open(range + PIECE, 1),
            Err(NotAllocated(range + PIECE))
        );
        let past = range + 4 * PIECE;
        assert_eq!(global.open(past, 1), Err(NotAllocated(past)));
        assert_eq!(global.free(range), Err(NotAllocated(range)));
        assert_eq!(global.unreserve(range, 4 * PIECE), Err(NotAllocated(range)));
        for piece in [0, 1, 3] {
            global.close(range + piece * PIECE).unwrap();
        }
        assert_eq!(global.unreserve(range, PIECE), Err(NotAllocated(range)));
        assert_eq!(global.unreserve(range, 4 * PIECE), Ok(()));
        assert_eq!(global.open(range, 1), Err(NotAllocated(range)));
    }

    #[test]
    fn memory_without_a_place_counts() {
        let mut global = Global::new(1000);
        global.take(600).unwrap();
        assert_eq!(global.free_bytes(), 400);
        assert!(global.take(401).is_err());
        global.give_back(600);
        assert_eq!(global.free_bytes(), 1000);
        assert!(global.reserve(u64::MAX, 1).is_err());
        assert!(global.reserve(1, 1 << 63).is_err());
    }
}
