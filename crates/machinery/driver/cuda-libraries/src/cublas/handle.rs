//! Handles and their settings, and functions that need no device.

use std::ffi::{c_char, c_void};

use super::*;
use crate::call::synchronize;
use crate::functions::{CallResult, write_output, write_property};

/// `cublasHandle_t`.
pub type Handle = usize;

/// `cublasPointerMode_t`: the memory of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerMode {
    Host = 0,
    Device = 1,
}

impl PointerMode {
    /// Converts a value of C.
    pub fn new(value: c_int) -> Result<Self, Status> {
        match value {
            0 => Ok(Self::Host),
            1 => Ok(Self::Device),
            _ => Err(INVALID_VALUE),
        }
    }
}

/// The settings of a handle. Math and atomics modes, the workspace and the limit of multiprocessors have no effect on
/// results here; programs can read them back.
#[derive(Clone, Copy)]
pub struct Settings {
    pub stream: Stream,
    pub pointer_mode: PointerMode,
    math_mode: c_int,
    atomics_mode: c_int,
    multiprocessors: c_int,
}

static HANDLES: Handles<Settings> = Handles::new(NOT_INITIALIZED);

/// Returns the settings of a handle.
pub fn settings(handle: Handle) -> Result<Settings, Status> {
    HANDLES.with(handle, |settings| *settings)
}

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
        pointer_mode: PointerMode::Host,
        math_mode: 0,
        atomics_mode: 0,
        multiprocessors: 0,
    });
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(created) };
    Ok(())
}

/// `cublasDestroy`: waits for all work, as NVIDIA's function does. The program may have destroyed the handle's stream.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn destroy(handle: Handle) -> CallResult {
    HANDLES.remove(handle)?;
    synchronize()
}

/// Generates the functions that set and get a setting: the type in C, the value's conversion from C and to C, and the
/// setting.
macro_rules! settings {
    ($($set:ident, $get:ident: $type:ty, |$value:ident| $from:expr, |$field:ident| $to:expr;)*) => {$(
        /// Sets the setting.
        ///
        /// # Safety
        /// None: the handle is looked up.
        pub unsafe fn $set(handle: Handle, $value: $type) -> CallResult {
            let value = $from;
            HANDLES.with(handle, |settings| settings.$field = value)
        }

        /// Gets the setting.
        ///
        /// # Safety
        /// `value` must be null or writable.
        pub unsafe fn $get(handle: Handle, value: *mut $type) -> CallResult {
            let $field = settings(handle)?.$field;
            // SAFETY: the requirements are those of this function.
            unsafe { write_output(value, $to, INVALID_VALUE) }
        }
    )*};
}

settings! {
    set_stream, get_stream: CUstream, |value| Stream(value), |stream| stream.0;
    set_pointer_mode, get_pointer_mode: c_int, |value| PointerMode::new(value)?, |pointer_mode| pointer_mode as c_int;
    set_math_mode, get_math_mode: c_int, |value| value, |math_mode| math_mode;
    set_atomics_mode, get_atomics_mode: c_int, |value| value, |atomics_mode| atomics_mode;
    set_multiprocessors, get_multiprocessors: c_int, |value| value, |multiprocessors| multiprocessors;
}

/// `cublasSetWorkspace`: the host needs none.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_workspace(handle: Handle, _: *mut c_void, _: usize) -> CallResult {
    settings(handle)?;
    Ok(())
}

/// The version of cuBLAS and cuBLASLt whose interface this is, that of CUDA 12.8.
pub const VERSION: c_int = 120_804;

/// `cublasGetVersion`, with or without a handle.
///
/// # Safety
/// `version` must be null or writable.
pub unsafe fn version(_: Handle, version: *mut c_int) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(version, VERSION, INVALID_VALUE) }
}

/// `cublasGetProperty`.
///
/// # Safety
/// `value` must be null or writable.
pub unsafe fn property(kind: c_int, value: *mut c_int) -> CallResult {
    let parts = [VERSION / 10_000, VERSION / 100 % 100, VERSION % 100];
    // SAFETY: the requirements are those of this function.
    unsafe { write_property(value, kind, parts, INVALID_VALUE) }
}

/// `cublasGetCudartVersion`.
///
/// # Safety
/// None.
pub unsafe fn runtime_version() -> usize {
    cuda_driver::SIMULATED_VERSION as usize
}

/// The statuses with their meanings.
const STATUSES: [(c_int, &std::ffi::CStr, &std::ffi::CStr); 10] = [
    (0, c"CUBLAS_STATUS_SUCCESS", c"success"),
    (
        1,
        c"CUBLAS_STATUS_NOT_INITIALIZED",
        c"the library was not initialized",
    ),
    (
        3,
        c"CUBLAS_STATUS_ALLOC_FAILED",
        c"the resource allocation failed",
    ),
    (
        7,
        c"CUBLAS_STATUS_INVALID_VALUE",
        c"an unsupported value or parameter was passed to the function",
    ),
    (
        8,
        c"CUBLAS_STATUS_ARCH_MISMATCH",
        c"the requested feature is not supported by this GPU",
    ),
    (
        11,
        c"CUBLAS_STATUS_MAPPING_ERROR",
        c"an access to GPU memory space failed",
    ),
    (
        13,
        c"CUBLAS_STATUS_EXECUTION_FAILED",
        c"the function failed to launch on the GPU",
    ),
    (
        14,
        c"CUBLAS_STATUS_INTERNAL_ERROR",
        c"an internal operation failed",
    ),
    (
        15,
        c"CUBLAS_STATUS_NOT_SUPPORTED",
        c"the requested functionality is not supported",
    ),
    (
        16,
        c"CUBLAS_STATUS_LICENSE_ERROR",
        c"an error was detected when checking the current licensing",
    ),
];

fn status_text(status: c_int) -> (&'static std::ffi::CStr, &'static std::ffi::CStr) {
    let known = STATUSES.iter().find(|(code, ..)| *code == status);
    known.map_or(
        (c"unknown status", c"unknown status"),
        |&(_, name, text)| (name, text),
    )
}

/// `cublasGetStatusName`.
///
/// # Safety
/// None.
pub unsafe fn status_name(status: c_int) -> *const c_char {
    status_text(status).0.as_ptr()
}

/// `cublasGetStatusString`.
///
/// # Safety
/// None.
pub unsafe fn status_string(status: c_int) -> *const c_char {
    status_text(status).1.as_ptr()
}

/// `cublasLoggerConfigure`: calls are not logged.
///
/// # Safety
/// None: the arguments are ignored.
pub unsafe fn configure_logger(_: c_int, _: c_int, _: c_int, _: *const c_char) -> CallResult {
    Ok(())
}

/// `cublasSetLoggerCallback`: calls are not logged.
///
/// # Safety
/// None: the argument is ignored.
pub unsafe fn set_logger_callback(_: *mut c_void) -> CallResult {
    Ok(())
}

/// `cublasGetLoggerCallback`: there is none.
///
/// # Safety
/// `callback` must be null or writable.
pub unsafe fn get_logger_callback(callback: *mut *mut c_void) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(callback, std::ptr::null_mut(), INVALID_VALUE) }
}
