//! Conversion of pointers and handles from C.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};
use cust_raw::{CUcontext, CUevent, CUstream};

use super::thread::PerThreadDefault;
use super::{SIMULATOR, lock_mutex};

/// `CU_STREAM_LEGACY`: an explicit handle to the legacy default stream.
const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`: the calling thread's default stream.
const PER_THREAD: u64 = 2;

/// The stream that a `CUstream` denotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A stream by its number, or the legacy default stream.
    Id(StreamId),
    PerThread,
}

/// A non-null output pointer. It is created before a function does its work, so that a null pointer is
/// rejected while there is nothing to undo.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Wraps an output pointer. Returns [`CudaError::InvalidValue`] for a null pointer.
    ///
    /// # Safety
    /// `to` must be null or writable until [`Out::set`] is called.
    pub unsafe fn new(to: *mut T) -> Result<Self, CudaError> {
        NonNull::new(to).map(Self).ok_or(CudaError::InvalidValue)
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: the pointer is not null, so it is writable by the contract of `new`.
        unsafe { self.0.as_ptr().write(value) }
    }
}

/// Writes `value` through an optional output pointer; does nothing if it is null.
///
/// # Safety
/// `to` must be null or writable.
pub unsafe fn write_if_not_null<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: `to` is not null, so it is writable by this function's contract.
        unsafe { to.write(value) }
    }
}

/// Converts a handle's number to the pointer that C sees. It is never dereferenced.
pub fn handle<T>(number: u64) -> *mut T {
    std::ptr::without_provenance_mut(number as usize)
}

/// Returns the number of a handle.
pub fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

/// Returns the context of a handle; `None` for a null handle.
pub fn context(handle: CUcontext) -> Option<ContextId> {
    (!handle.is_null()).then(|| ContextId(number(handle)))
}

/// Returns the event of a handle.
pub fn event(handle: CUevent) -> EventId {
    EventId(number(handle))
}

/// Returns the stream of a handle. A null handle denotes the legacy default stream, or inside a `_ptsz` or
/// `_ptds` function the per-thread default stream.
pub fn stream(handle: CUstream) -> Stream {
    match number(handle) {
        0 if PerThreadDefault::is_active() => Stream::PerThread,
        LEGACY => Stream::Id(StreamId::LEGACY),
        PER_THREAD => Stream::PerThread,
        number => Stream::Id(StreamId(number)),
    }
}

/// Converts a C string. Returns [`CudaError::InvalidValue`] if it is null or not UTF-8.
///
/// # Safety
/// `text` must be null or a NUL-terminated string that outlives the result.
pub unsafe fn c_str<'a>(text: *const c_char) -> Result<&'a str, CudaError> {
    if text.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `text` is not null, so it is a NUL-terminated string that outlives the result, by this
    // function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| CudaError::InvalidValue)
}

/// Interns a string for C: returns the same pointer for equal strings, valid until the process ends.
pub fn intern(text: &str) -> *const c_char {
    // Names in PTX contain no NUL.
    let text = CString::new(text).unwrap_or_default();
    let mut texts = lock_mutex(&SIMULATOR.interned_texts);
    if let Some(interned) = texts.get(&text) {
        return interned.as_ptr();
    }
    // Moving a `CString` does not move its contents, and the set never removes an entry.
    let pointer = text.as_ptr();
    texts.insert(text);
    pointer
}

/// A pointer to host memory as the simulator takes it.
pub fn host_pointer(host: *mut c_void) -> *mut u8 {
    host.cast()
}
