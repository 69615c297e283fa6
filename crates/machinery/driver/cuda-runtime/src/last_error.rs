//! The last error of each thread (`cudaGetLastError`), and the wrapper through which every function of the
//! runtime API runs.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_driver::{functions as cu, warn};

use crate::fork;
use crate::status::{Code, Error, Result, SUCCESS, is_sticky};
use crate::stream::{DefaultStream, with_default_stream};

thread_local! {
    /// The last error of this thread that `cudaGetLastError` has not yet cleared.
    static LAST_ERROR: Cell<Code> = const { Cell::new(SUCCESS) };
}

/// Runs the implementation of the C function `name` and records its error for `cudaGetLastError`. A panic
/// becomes `cudaErrorUnknown`.
pub fn call(name: &str, default: DefaultStream, body: impl FnOnce() -> Result) -> Code {
    if fork::is_forked_child() {
        return record(Err(Error::INITIALIZATION));
    }
    let unwind_safe = AssertUnwindSafe(|| with_default_stream(default, body));
    record(catch_unwind(unwind_safe).unwrap_or_else(|_| {
        warn(format_args!(
            "internal error in Warpbook's CUDA runtime, in {name}; please report it"
        ));
        Err(Error::UNKNOWN)
    }))
}

/// Records an error of this thread. `cudaErrorNotReady` is a status, not an error, and is not recorded.
pub fn record(result: Result) -> Code {
    match result {
        Ok(()) => SUCCESS,
        Err(Error(code)) => {
            if Error(code) != Error::NOT_READY {
                LAST_ERROR.set(code);
            }
            code
        }
    }
}

/// Reports that a function is not implemented.
pub fn unsupported(name: &str) -> Result {
    warn(format_args!(
        "Warpbook's CUDA runtime does not implement {name}"
    ));
    Err(Error::NOT_SUPPORTED)
}

/// `cudaPeekAtLastError`.
pub fn peek() -> Code {
    LAST_ERROR.get()
}

/// Returns the last error and clears it (`cudaGetLastError`). An error that destroyed the device's context
/// is not cleared while that context exists.
pub fn take() -> Code {
    let last = LAST_ERROR.get();
    if !is_sticky(last) || fork::is_forked_child() || !driver_still_reports(last) {
        LAST_ERROR.set(SUCCESS);
    }
    last
}

/// Clears an error that destroyed a context, because the context is being reset.
pub fn clear_sticky() {
    if is_sticky(LAST_ERROR.get()) {
        LAST_ERROR.set(SUCCESS);
    }
}

/// Returns true if the driver still returns this error.
fn driver_still_reports(error: Code) -> bool {
    // SAFETY: the null handle is the default stream, which any thread may query.
    unsafe { cu::cuStreamQuery(std::ptr::null_mut()) == error }
}
