//! Where there are no pages to be had: memory for all of them, which the system may give as it is touched.

use crate::memory::global::backing::Backing;

/// A range of the host's addresses.
pub struct Addresses {
    /// The first.
    pub start: *mut u8,
    /// What they are of.
    _backing: Backing,
}

impl Addresses {
    /// `bytes` addresses, or nothing where there are not so many.
    pub fn new(bytes: u64) -> Option<Self> {
        let backing = Backing::new(bytes)?;
        Some(Self {
            start: backing.aligned,
            _backing: backing,
        })
    }

    /// Has memory there, all zero.
    ///
    /// # Safety
    /// They are in the range.
    pub unsafe fn fill(&self, from: u64, bytes: u64) -> bool {
        let place = self.start.wrapping_add(from as usize);
        // SAFETY: the caller's promise: there is memory for all of the range.
        unsafe { place.write_bytes(0, bytes as usize) };
        true
    }

    /// Keeps it.
    ///
    /// # Safety
    /// They are in the range.
    pub unsafe fn empty(&self, _from: u64, _bytes: u64) {}
}
