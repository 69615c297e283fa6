//! Pointers and handles as C passes them.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};
use cust_raw::{CUcontext, CUevent, CUstream};

/// `CU_STREAM_LEGACY`: another way to write the null stream.
const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`: the calling thread's own default stream.
const PER_THREAD: u64 = 2;

/// What a `CUstream` means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A stream by its number, or the legacy default stream.
    Known(StreamId),
    PerThread,
}

thread_local! {
    /// Whether a null stream is this thread's own now.
    static OWN_DEFAULT: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, a null stream is the calling thread's own.
pub struct OwnDefault(());

impl OwnDefault {
    pub fn begin() -> Self {
        OWN_DEFAULT.set(true);
        Self(())
    }

    /// Whether one lives.
    pub fn is_on() -> bool {
        OWN_DEFAULT.get()
    }
}

impl Drop for OwnDefault {
    fn drop(&mut self) {
        OWN_DEFAULT.set(false);
    }
}

/// Where a result goes. It is made before the work is done, so that a null pointer is refused while
/// there is nothing to undo.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// [`CudaError::InvalidValue`] for a null pointer.
    ///
    /// # Safety
    /// `to` must be null or writable until [`Out::set`] is called.
    pub unsafe fn new(to: *mut T) -> Result<Self, CudaError> {
        NonNull::new(to).map(Self).ok_or(CudaError::InvalidValue)
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: writable by the promise given to `new`.
        unsafe { self.0.as_ptr().write(value) }
    }
}

/// Writes `value` where the caller wants it, if anywhere.
///
/// # Safety
/// `to` must be null or writable.
pub unsafe fn set_if_wanted<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, so writable by the caller's promise.
        unsafe { to.write(value) }
    }
}

/// A handle's number as the pointer C knows it by. It is never followed.
pub fn handle<T>(number: u64) -> *mut T {
    std::ptr::without_provenance_mut(number as usize)
}

/// The number of a handle.
pub fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

/// The context a handle names, if it is not null.
pub fn context(handle: CUcontext) -> Option<ContextId> {
    (!handle.is_null()).then(|| ContextId(number(handle)))
}

/// The event a handle names.
pub fn event(handle: CUevent) -> EventId {
    EventId(number(handle))
}

/// The stream a handle names: `CU_STREAM_LEGACY` is the legacy default stream, and so is null but for
/// functions that take it for the thread's own.
pub fn stream(handle: CUstream) -> Stream {
    match number(handle) {
        0 if OwnDefault::is_on() => Stream::PerThread,
        LEGACY => Stream::Known(StreamId::LEGACY),
        PER_THREAD => Stream::PerThread,
        number => Stream::Known(StreamId(number)),
    }
}

/// A C string as text.
///
/// # Safety
/// `text` must be null or a string ending in NUL that outlives the result.
pub unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, CudaError> {
    if text.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| CudaError::InvalidValue)
}

/// A text for C that stays as long as the program: the same one for the same text.
pub fn lasting(text: &str) -> *const c_char {
    static TEXTS: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());
    // A name in PTX has no NUL.
    let text = CString::new(text).unwrap_or_default();
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(&text) {
        return known.as_ptr();
    }
    // What it points to does not move with it, and nothing is taken out.
    let pointer = text.as_ptr();
    texts.insert(text);
    pointer
}

/// A pointer to host memory as the simulator takes it.
pub fn host_pointer(host: *mut c_void) -> *mut u8 {
    host.cast()
}
