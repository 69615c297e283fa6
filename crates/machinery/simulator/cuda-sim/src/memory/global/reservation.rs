//! Virtual memory management: address ranges are reserved, and memory is mapped into them piece by piece. The
//! pages of a reserved range are contiguous on the host, so that adjacent mappings form one range. A reserved range has no
//! memory on the host: a program may reserve more addresses than the host has memory.

use super::allocation::LiveAllocation;
use super::{ALIGNMENT, Allocation, AllocationKind, Global, NotAllocated, OutOfMemory};
use crate::memory::shared::SharedFile;

#[cfg(not(unix))]
pub use fallback::AddressRange;
#[cfg(unix)]
pub use unix::AddressRange;

/// The implementation with POSIX `mmap` and `mprotect`: reserved pages are mapped without access permissions.
#[cfg(unix)]
mod unix {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    /// A range of host addresses.
    pub struct AddressRange {
        /// The first address, which is page-aligned.
        pub start: *mut u8,
        bytes: usize,
    }

    impl AddressRange {
        /// Reserves `bytes` addresses. Returns `None` if that fails.
        pub fn new(bytes: u64) -> Option<Self> {
            let bytes = usize::try_from(bytes).ok()?;
            let start = map(null_mut(), bytes, 0)?;
            Some(Self { start, bytes })
        }

        /// Commits zeroed memory to whole pages. Returns false if the host is out of memory.
        ///
        /// # Safety
        /// The pages must be inside the range.
        pub unsafe fn commit(&self, from: u64, bytes: u64) -> bool {
            let start = self.start.wrapping_add(from as usize);
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: the caller guarantees that the pages are inside this range, which no other mapping uses.
            let committed = unsafe {
                libc::mmap(
                    start.cast(),
                    bytes as usize,
                    libc::PROT_READ | libc::PROT_WRITE,
                    flags | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            committed != libc::MAP_FAILED
        }

        /// Makes whole pages show the memory of committed pages. Returns false if the system cannot.
        ///
        /// # Safety
        /// The pages must be inside the range, and `bytes` bytes at `source` must be committed pages.
        #[cfg(target_os = "linux")]
        pub unsafe fn alias(&self, from: u64, bytes: u64, source: *mut u8) -> bool {
            let start = self.start.wrapping_add(from as usize);
            // SAFETY: a size of zero duplicates the mapping of shared pages at `source`, over pages of this range.
            let aliased = unsafe {
                libc::mremap(
                    source.cast(),
                    0,
                    bytes as usize,
                    libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                    start.cast::<c_void>(),
                )
            };
            aliased != libc::MAP_FAILED
        }

        /// Returns false: only Linux duplicates mappings.
        ///
        /// # Safety
        /// There are no requirements.
        #[cfg(not(target_os = "linux"))]
        pub unsafe fn alias(&self, _from: u64, _bytes: u64, _source: *mut u8) -> bool {
            false
        }

        /// Returns the memory of whole pages to the system and keeps the addresses reserved.
        ///
        /// # Safety
        /// The pages must be inside the range and must not be in use.
        pub unsafe fn decommit(&self, from: u64, bytes: u64) {
            let start = self.start.wrapping_add(from as usize);
            // If this fails, the pages stay committed, which only costs memory.
            let _ = map(start.cast(), bytes as usize, libc::MAP_FIXED);
        }
    }

    impl Drop for AddressRange {
        fn drop(&mut self) {
            // SAFETY: `start` and `bytes` are those of the mapping that `new` created, and its owner is being
            // dropped.
            unsafe {
                libc::munmap(self.start.cast(), self.bytes);
            }
        }
    }

    /// Maps pages without access permissions and without committing memory: anywhere, or with `MAP_FIXED` over
    /// pages that the caller owns.
    fn map(at: *mut c_void, bytes: usize, more: i32) -> Option<*mut u8> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | more;
        // SAFETY: the kernel chooses unused addresses, or, with `MAP_FIXED`, the caller owns the pages that are
        // replaced.
        let start = unsafe { libc::mmap(at, bytes, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(start.cast())
    }
}

/// The fallback for systems without `mmap`: allocates memory for the whole range, which the system may
/// provide lazily.
#[cfg(not(unix))]
mod fallback {
    use crate::memory::global::allocation::Backing;

    /// A range of host addresses.
    pub struct AddressRange {
        /// The first address.
        pub start: *mut u8,
        /// The owner of the memory.
        _backing: Backing,
    }

    impl AddressRange {
        /// Reserves `bytes` addresses. Returns `None` if that fails.
        pub fn new(bytes: u64) -> Option<Self> {
            let backing = Backing::new(bytes)?;
            Some(Self {
                start: backing.aligned,
                _backing: backing,
            })
        }

        /// Zeroes the range. Returns true, because the memory is already there.
        ///
        /// # Safety
        /// The bytes must be inside the range.
        pub unsafe fn commit(&self, from: u64, bytes: u64) -> bool {
            let start = self.start.wrapping_add(from as usize);
            // SAFETY: the caller guarantees that the bytes are inside the range, and `_backing` owns memory for
            // all of it.
            unsafe { start.write_bytes(0, bytes as usize) };
            true
        }

        /// Returns false, because pages cannot share memory.
        ///
        /// # Safety
        /// There are no requirements.
        pub unsafe fn alias(&self, _from: u64, _bytes: u64, _source: *mut u8) -> bool {
            false
        }

        /// Does nothing, because the memory cannot be returned in parts.
        ///
        /// # Safety
        /// The bytes must be inside the range.
        pub unsafe fn decommit(&self, _from: u64, _bytes: u64) {}
    }
}

/// A reserved address range.
pub(super) struct Reservation {
    pub size: u64,
    addresses: AddressRange,
}

impl Global {
    /// Reserves `bytes` addresses at a multiple of `alignment`, which must be a power of two. The range takes
    /// neither device memory nor host memory until memory is mapped into it.
    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, OutOfMemory> {
        let (address, past) = self.next_address(bytes, alignment.max(ALIGNMENT))?;
        let addresses = AddressRange::new(bytes).ok_or_else(|| self.out_of_memory(bytes))?;
        self.next = past;
        let reservation = Reservation {
            size: bytes,
            addresses,
        };
        self.reservations.insert(address, reservation);
        Ok(address)
    }

    /// Releases a reservation made by [`Global::reserve`] with this address and length. Fails if there is no
    /// such reservation or if memory is still mapped into it.
    pub fn free_reservation(&mut self, address: u64, bytes: u64) -> Result<(), NotAllocated> {
        let reservation = self.reservations.get(&address);
        let is_reserved = reservation.is_some_and(|reservation| reservation.size == bytes);
        let is_empty = self.mappings(address, bytes).is_empty();
        if !is_reserved || !is_empty {
            return Err(NotAllocated(address));
        }
        self.reservations.remove(&address);
        Ok(())
    }

    /// Allocates memory of the current device that is not mapped anywhere yet.
    pub fn allocate_unmapped(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        self.used[self.device as usize] += bytes;
        Ok(())
    }

    /// Frees memory that [`Global::allocate_unmapped`] allocated on the same device.
    pub fn free_unmapped(&mut self, bytes: u64) {
        self.used[self.device as usize] -= bytes;
    }

    /// Returns the host pointer to a range inside one reservation. The range is inaccessible until
    /// [`Global::commit_pages`] commits host memory to it.
    pub fn reserved_host(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let (reservation, offset) = self.find_reservation(address, bytes)?;
        Some(reservation.addresses.start.wrapping_add(offset as usize))
    }

    /// Commits host memory to whole pages of a reservation. Fails if the host is out of memory.
    pub fn commit_pages(&self, address: u64, bytes: u64) -> Result<(), OutOfMemory> {
        let filled = self
            .find_reservation(address, bytes)
            .is_some_and(|(reservation, offset)| {
                // SAFETY: `find_reservation` has checked that the range is inside the reservation.
                unsafe { reservation.addresses.commit(offset, bytes) }
            });
        if filled {
            Ok(())
        } else {
            Err(self.out_of_memory(bytes))
        }
    }

    /// Makes whole pages of a reservation show the memory of other committed pages. Returns false if the system cannot.
    pub fn alias_pages(&self, address: u64, bytes: u64, other: u64) -> bool {
        let Some(source) = self.reserved_host(other, bytes) else {
            return false;
        };
        self.find_reservation(address, bytes)
            .is_some_and(|(reservation, offset)| {
                // SAFETY: `find_reservation` has checked that both ranges are inside reservations, and callers name
                // committed pages.
                unsafe { reservation.addresses.alias(offset, bytes, source) }
            })
    }

    /// Maps a file over whole pages of a reservation. Fails if the system refuses it.
    pub fn commit_shared_pages(
        &self,
        address: u64,
        bytes: u64,
        file: &SharedFile,
    ) -> Result<(), OutOfMemory> {
        let host = self.reserved_host(address, bytes);
        // SAFETY: `reserved_host` has checked that the range is inside the reservation, and callers do not use pages that
        // are not committed.
        match host.is_some_and(|host| unsafe { file.map_over(host, bytes) }) {
            true => Ok(()),
            false => Err(self.out_of_memory(bytes)),
        }
    }

    /// Returns the host memory of whole pages of a reservation to the system. The pages must not be in use.
    pub fn decommit_pages(&self, address: u64, bytes: u64) {
        if let Some((reservation, offset)) = self.find_reservation(address, bytes) {
            // SAFETY: `find_reservation` has checked that the range is inside the reservation, and callers do
            // not use the pages any more.
            unsafe { reservation.addresses.decommit(offset, bytes) }
        }
    }

    /// Returns the reservation that contains all of these addresses, and the offset of the first.
    fn find_reservation(&self, address: u64, bytes: u64) -> Option<(&Reservation, u64)> {
        let (&start, reservation) = self.reservations.range(..=address).next_back()?;
        let offset = address - start;
        (offset.checked_add(bytes)? <= reservation.size).then_some((reservation, offset))
    }

    /// Maps memory of the current device into part of a reservation. No kernel can access it before
    /// [`Global::set_access`]. Fails if the range is not reserved or memory is mapped there already.
    pub fn map_reserved(&mut self, address: u64, bytes: u64) -> Result<(), NotAllocated> {
        let host = self
            .reserved_host(address, bytes)
            .ok_or(NotAllocated(address))?;
        if !self.mappings(address, bytes).is_empty() {
            return Err(NotAllocated(address));
        }
        self.allocation_count += 1;
        let entry = LiveAllocation::new(
            bytes,
            host,
            AllocationKind::Mapped,
            self.device,
            self.allocation_count,
        );
        self.entries.insert(address, entry);
        Ok(())
    }

    /// Removes the mapping made by [`Global::map_reserved`] at `address`.
    pub fn unmap_reserved(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == AllocationKind::Mapped)
    }

    /// Returns the mappings in an address range.
    fn mappings(&self, address: u64, bytes: u64) -> Vec<Allocation> {
        let end = address.saturating_add(bytes);
        let mappings = self.entries.range(address..end);
        mappings
            .map(|(&base, entry)| entry.to_allocation(base))
            .collect()
    }

    /// Returns the end of the host-contiguous memory that starts at `found`: the end of the allocation,
    /// extended over adjacent mappings until at least `bytes` bytes are covered.
    pub(super) fn contiguous_end(&self, allocation: Allocation, bytes: u64) -> u64 {
        let mut end = allocation.base + allocation.size;
        if allocation.kind != AllocationKind::Mapped {
            return end;
        }
        while end - allocation.base < bytes {
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
    fn adjacent_mappings_are_contiguous_on_the_host() {
        const PIECE: u64 = 4096;
        let mut global = Global::new(1 << 20);
        let range = global.reserve(4 * PIECE, 2 * PIECE).unwrap();
        assert_eq!(range % (2 * PIECE), 0);
        assert_eq!(global.free_bytes(), 1 << 20, "addresses are no memory");
        assert_eq!(global.host(range, 1), None);
        global.map_reserved(range, PIECE).unwrap();
        global.map_reserved(range + PIECE, PIECE).unwrap();
        global.map_reserved(range + 3 * PIECE, PIECE).unwrap();
        let host = global.host(range, 2 * PIECE).unwrap();
        assert_eq!(
            global.host(range + 1, 2 * PIECE - 1),
            Some(host.wrapping_add(1))
        );
        assert_eq!(global.host(range, 2 * PIECE + 1), None, "a hole");
        assert_eq!(
            global.map_reserved(range + PIECE, 1),
            Err(NotAllocated(range + PIECE))
        );
        let past = range + 4 * PIECE;
        assert_eq!(global.map_reserved(past, 1), Err(NotAllocated(past)));
        assert_eq!(global.free(range), Err(NotAllocated(range)));
        assert_eq!(
            global.free_reservation(range, 4 * PIECE),
            Err(NotAllocated(range))
        );
        for piece in [0, 1, 3] {
            global.unmap_reserved(range + piece * PIECE).unwrap();
        }
        assert_eq!(
            global.free_reservation(range, PIECE),
            Err(NotAllocated(range))
        );
        assert_eq!(global.free_reservation(range, 4 * PIECE), Ok(()));
        assert_eq!(global.map_reserved(range, 1), Err(NotAllocated(range)));
    }

    #[test]
    fn unmapped_memory_counts_as_allocated() {
        let mut global = Global::new(1000);
        global.allocate_unmapped(600).unwrap();
        assert_eq!(global.free_bytes(), 400);
        assert!(global.allocate_unmapped(401).is_err());
        global.free_unmapped(600);
        assert_eq!(global.free_bytes(), 1000);
        assert!(global.reserve(u64::MAX, 1).is_err());
        assert!(global.reserve(1, 1 << 63).is_err());
    }
}
