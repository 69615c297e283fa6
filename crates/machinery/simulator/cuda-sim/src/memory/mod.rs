//! Memory: device memory, and the windows of the generic address space that map to the other state spaces.
//!
//! The windows lie above all host and device addresses, so each address belongs to exactly one space.

pub(crate) mod coverage;
pub mod footprint;
pub mod global;
pub(crate) mod init_bitmap;
pub mod region;
pub mod shared;
pub mod tensor_map;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The start of the generic addresses of shared memory.
pub const SHARED_WINDOW: u64 = 1 << 60;
/// The start of the generic addresses of local memory.
pub const LOCAL_WINDOW: u64 = 2 << 60;
/// The start of the generic addresses of kernel parameters.
pub const PARAM_WINDOW: u64 = 3 << 60;
/// The first function pointer. Consecutive functions are [`FUNCTION_STEP`] apart.
pub const FUNCTION_BASE: u64 = 4 << 60;
/// The distance between two function pointers.
pub const FUNCTION_STEP: u64 = 16;
/// The length of each window; function pointers are not a window.
const WINDOW_BYTES: u64 = 1 << 40;

/// The granule of a block's shared memory in bytes. Measured on an H200: with 2 bytes of shared memory, accesses up to
/// byte 127 succeed, with 1000 bytes those up to byte 1023.
pub const SHARED_GRANULE: u32 = 128;

/// The granule of a thread's local memory in bytes.
pub const LOCAL_GRANULE: u32 = 16;

/// Fills memory with copies of a word. A partial word at the end gets its first bytes.
pub(crate) fn fill(memory: &mut [u8], word: u32) {
    for part in memory.chunks_mut(4) {
        part.copy_from_slice(&word.to_le_bytes()[..part.len()]);
    }
}

/// Locks a mutex, also if another thread has panicked while it held the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if a generic address is in the window that starts at `window`.
#[inline(always)]
pub fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW_BYTES
}
