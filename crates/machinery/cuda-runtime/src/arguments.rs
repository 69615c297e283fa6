//! Pointers as C passes them.

use std::ptr::NonNull;

use crate::status::{Answer, Error};

/// Where a result goes. It is made before the work is done, so that a null pointer is refused while
/// there is nothing to undo.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// `cudaErrorInvalidValue` for a null pointer.
    ///
    /// # Safety
    /// `to` must be null or writable until [`Out::set`] is called.
    pub unsafe fn new(to: *mut T) -> Answer<Self> {
        NonNull::new(to).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: writable by the promise given to `new`.
        unsafe { self.0.as_ptr().write(value) }
    }
}

/// What a pointer points to. `cudaErrorInvalidValue` for a null pointer.
///
/// # Safety
/// `from` must be null or readable.
pub unsafe fn read<T: Copy>(from: *const T) -> Answer<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, so readable by the caller's promise.
    Ok(unsafe { from.read() })
}
