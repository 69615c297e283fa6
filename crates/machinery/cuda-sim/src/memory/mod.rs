//! Where a kernel's data lies: device memory, and the windows of the address space through which
//! generic addresses reach the other spaces.
//!
//! The windows lie above every host and device address, so an address belongs to one space.

pub mod footprint;
pub mod global;
pub mod region;
pub(crate) mod written;

/// Generic addresses of shared memory begin here.
pub const SHARED_WINDOW: u64 = 1 << 60;
/// Generic addresses of local memory begin here.
pub const LOCAL_WINDOW: u64 = 2 << 60;
/// Generic addresses of kernel parameters begin here.
pub const PARAM_WINDOW: u64 = 3 << 60;
/// Function pointers begin here, one every [`FUNCTION_STEP`].
pub const FUNCTION_BASE: u64 = 4 << 60;
/// The distance from one function pointer to the next.
pub const FUNCTION_STEP: u64 = 16;
/// The length of each window above; function pointers are no window.
const WINDOW_BYTES: u64 = 1 << 40;

/// Fills memory with a word, and what is left at its end with the first bytes of one.
pub(crate) fn fill(memory: &mut [u8], word: u32) {
    for part in memory.chunks_mut(4) {
        part.copy_from_slice(&word.to_le_bytes()[..part.len()]);
    }
}

/// Whether a generic address is in the window that begins at `window`.
#[inline(always)]
pub fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW_BYTES
}
