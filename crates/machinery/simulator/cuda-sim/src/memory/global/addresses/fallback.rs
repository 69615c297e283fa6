//! The fallback for systems without `mmap`: allocates memory for the whole range, which the system may
//! provide lazily.

use crate::memory::global::backing::Backing;

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

    /// Does nothing, because the memory cannot be returned in parts.
    ///
    /// # Safety
    /// The bytes must be inside the range.
    pub unsafe fn decommit(&self, _from: u64, _bytes: u64) {}
}
