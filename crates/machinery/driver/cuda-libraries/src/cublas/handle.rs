//! Handles and their settings.

use super::*;
use crate::functions::CallResult;

/// `cublasHandle_t`.
pub type Handle = usize;

/// The settings of a handle.
#[derive(Clone, Copy)]
pub struct Settings {
    pub stream: Stream,
}

static HANDLES: Handles<Settings> = Handles::new(NOT_INITIALIZED);

/// `cublasCreate`.
///
/// # Safety
/// `handle` must be null or writable.
pub unsafe fn create(handle: *mut Handle) -> CallResult {
    if handle.is_null() {
        return Err(INVALID_VALUE);
    }
    let created = HANDLES.insert(Settings {
        stream: Stream::NULL,
    });
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(created) };
    Ok(())
}

/// `cublasDestroy`: waits for the work of the stream, as NVIDIA's function does.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn destroy(handle: Handle) -> CallResult {
    let settings = HANDLES.remove(handle)?;
    Ok(settings.stream.synchronize()?)
}
