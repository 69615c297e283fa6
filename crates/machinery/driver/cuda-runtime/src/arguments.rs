//! Checked access to pointers passed by C callers.

use std::ptr::NonNull;

use crate::status::{Error, Result};

/// An out-parameter. It is created before the work is done, so that a null pointer is rejected while there is
/// nothing to undo.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Wraps an out-parameter. Fails with `cudaErrorInvalidValue` if the pointer is null.
    ///
    /// # Safety
    /// `to` must be null or valid for writes until [`Out::set`] is called.
    pub unsafe fn new(to: *mut T) -> Result<Self> {
        NonNull::new(to).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: `new` rejected null, and its caller guarantees that a non-null pointer stays writable until
        // now.
        unsafe { self.0.as_ptr().write(value) }
    }
}

/// Reads the value behind a pointer. Fails with `cudaErrorInvalidValue` if the pointer is null.
///
/// # Safety
/// `from` must be null or valid for reads.
pub unsafe fn read<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: `from` is not null here, and a non-null `from` is valid for reads.
    Ok(unsafe { from.read() })
}
