//! The host memory behind an allocation.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// What real GPUs align an allocation to.
pub const ALIGNMENT: u64 = 512;

/// Zeroed host memory aligned to [`ALIGNMENT`].
///
/// The system allocator clears memory of a small alignment lazily, page by page as it is
/// touched, and memory of a large one at once; so this asks for a little more and aligns itself.
pub struct Backing {
    start: *mut u8,
    layout: Layout,
    /// The first byte at a multiple of [`ALIGNMENT`].
    pub aligned: *mut u8,
}

impl Backing {
    /// `bytes` bytes, or nothing where the host has no room for them.
    pub fn new(bytes: u64) -> Option<Self> {
        let padded = usize::try_from(bytes.checked_add(ALIGNMENT)?).ok()?;
        let layout = Layout::from_size_align(padded, 16).ok()?;
        // SAFETY: the layout is at least ALIGNMENT bytes long, so not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let aligned = start.wrapping_add(start.align_offset(ALIGNMENT as usize));
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
