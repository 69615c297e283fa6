//! The host memory that backs an allocation.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// The alignment of device allocations in bytes, as on real GPUs.
pub const ALIGNMENT: u64 = 512;

/// Zeroed host memory with an alignment of at least [`ALIGNMENT`].
///
/// The system allocator zeroes memory lazily, page by page, only if the requested alignment is small. For
/// large alignments it clears all memory at once. Therefore this type requests more memory than needed and
/// aligns the start itself.
pub struct Backing {
    start: *mut u8,
    layout: Layout,
    /// The first aligned byte.
    pub aligned: *mut u8,
}

/// The alignment of memory shared with the host, which gets pages of its own so that they can be protected.
const PAGE: u64 = 4096;

impl Backing {
    /// Allocates `bytes` bytes. Returns `None` if the host is out of memory.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::aligned_to(ALIGNMENT, bytes)
    }

    /// Allocates `bytes` bytes in pages that contain nothing else. Returns `None` if the host is out of memory.
    pub fn in_pages(bytes: u64) -> Option<Self> {
        Self::aligned_to(PAGE, bytes.checked_next_multiple_of(PAGE)?)
    }

    fn aligned_to(alignment: u64, bytes: u64) -> Option<Self> {
        let padded = usize::try_from(bytes.checked_add(alignment)?).ok()?;
        let layout = Layout::from_size_align(padded, 16).ok()?;
        // SAFETY: `padded` is at least `alignment`, so the layout has a nonzero size, as `alloc_zeroed`
        // requires.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let aligned = start.wrapping_add(start.align_offset(alignment as usize));
        Some(Self {
            start,
            layout,
            aligned,
        })
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: `start` was returned by `alloc_zeroed` for `self.layout`, and `drop` runs only once.
        unsafe { dealloc(self.start, self.layout) }
    }
}
