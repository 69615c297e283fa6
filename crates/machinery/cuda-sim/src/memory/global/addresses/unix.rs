//! By mapping pages that nobody may touch, as `mmap` and `mprotect` of POSIX have it.

use std::ffi::c_void;
use std::ptr::null_mut;

/// A range of the host's addresses.
pub struct Addresses {
    /// The first, at a multiple of a page.
    pub start: *mut u8,
    bytes: usize,
}

impl Addresses {
    /// `bytes` addresses, or nothing where there are not so many.
    pub fn new(bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?;
        let start = map(null_mut(), bytes, 0)?;
        Some(Self { start, bytes })
    }

    /// Has memory in whole pages from a place on, all zero. False where the host has no more.
    ///
    /// # Safety
    /// They are in the range.
    pub unsafe fn fill(&self, from: u64, bytes: u64) -> bool {
        let place = self.start.wrapping_add(from as usize);
        // SAFETY: the caller's promise: the pages are this range's own.
        unsafe {
            libc::mprotect(
                place.cast(),
                bytes as usize,
                libc::PROT_READ | libc::PROT_WRITE,
            ) == 0
        }
    }

    /// Gives the memory back, and keeps the addresses.
    ///
    /// # Safety
    /// They are in the range, in whole pages, and nobody uses what is there.
    pub unsafe fn empty(&self, from: u64, bytes: u64) {
        let place = self.start.wrapping_add(from as usize);
        // Where this fails the pages stay as they are, which costs memory and nothing else.
        let _ = map(place.cast(), bytes as usize, libc::MAP_FIXED);
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // SAFETY: the range is its own, and nobody uses it any more.
        unsafe {
            libc::munmap(self.start.cast(), self.bytes);
        }
    }
}

/// Maps pages that nobody may touch and that count as no memory: anywhere, or with `MAP_FIXED` in place of those that
/// are there, which are the caller's own.
fn map(at: *mut c_void, bytes: usize, more: i32) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | more;
    // SAFETY: new pages, or the caller's own.
    let start = unsafe { libc::mmap(at, bytes, libc::PROT_NONE, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start.cast())
}
