//! The host memory behind an allocation.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// What real GPUs align an allocation to.
pub const ALIGNMENT: u64 = 512;

/// Zeroed host memory aligned to [`ALIGNMENT`] or more.
///
/// The system allocator clears memory of a small alignment lazily, page by page as it is
/// touched, and memory of a large one at once; so this asks for a little more and aligns itself.
pub struct Backing {
    start: *mut u8,
    layout: Layout,
    /// The first byte at a multiple of the alignment.
    pub aligned: *mut u8,
}

/// Memory that the host uses too has pages of its own, so that they can be guarded.
const PAGE: u64 = 4096;

impl Backing {
    /// `bytes` bytes, or nothing where the host has no room for them.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::aligned_to(ALIGNMENT, bytes)
    }

    /// `bytes` bytes in pages that nothing else is in, or nothing.
    pub fn in_pages(bytes: u64) -> Option<Self> {
        Self::aligned_to(PAGE, bytes.checked_next_multiple_of(PAGE)?)
    }

    fn aligned_to(alignment: u64, bytes: u64) -> Option<Self> {
        let padded = usize::try_from(bytes.checked_add(alignment)?).ok()?;
        let layout = Layout::from_size_align(padded, 16).ok()?;
        // SAFETY: the layout is at least `alignment` bytes long, so not empty.
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
        // SAFETY: `start` came from `alloc_zeroed` with this layout and is freed only here.
        unsafe { dealloc(self.start, self.layout) }
    }
}
