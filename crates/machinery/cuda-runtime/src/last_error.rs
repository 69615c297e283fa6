//! The last error of a thread, for `cudaGetLastError`; and what every function of the runtime API goes
//! through on its way in and out.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_driver::{functions as cu, say};

use crate::fork;
use crate::status::{Answer, Code, Error, SUCCESS, is_sticky};
use crate::stream::{DefaultStream, with_default};

thread_local! {
    /// The last error of a call from this thread that was not taken.
    static LAST: Cell<Code> = const { Cell::new(SUCCESS) };
}

/// Runs what is behind the C function `name`, and keeps its error for `cudaGetLastError`. A panic
/// becomes `cudaErrorUnknown`.
pub fn call(name: &str, default: DefaultStream, body: impl FnOnce() -> Answer) -> Code {
    if fork::is_child() {
        return keep(Err(Error::INITIALIZATION));
    }
    let guarded = AssertUnwindSafe(|| with_default(default, body));
    keep(catch_unwind(guarded).unwrap_or_else(|_| {
        say(format_args!(
            "a fault of the CUDA runtime itself in {name}; please report it"
        ));
        Err(Error::UNKNOWN)
    }))
}

/// Keeps an error of this thread. That work is not ready yet is an answer and no error.
pub fn keep(answer: Answer) -> Code {
    match answer {
        Ok(()) => SUCCESS,
        Err(Error(code)) => {
            if Error(code) != Error::NOT_READY {
                LAST.set(code);
            }
            code
        }
    }
}

/// The answer for a function that is not there.
pub fn missing(name: &str) -> Answer {
    say(format_args!(
        "the CUDA runtime of Warpbook does not have {name}"
    ));
    Err(Error::NOT_SUPPORTED)
}

/// `cudaPeekAtLastError`.
pub fn peek() -> Code {
    LAST.get()
}

/// `cudaGetLastError`: the last error, which is forgotten then, unless it has ended the device's
/// context: that error stays for as long as the context.
pub fn take() -> Code {
    let last = LAST.get();
    if !is_sticky(last) || fork::is_child() || !still_holds(last) {
        LAST.set(SUCCESS);
    }
    last
}

/// Forgets an error that has ended a context, with which it goes.
pub fn forget_sticky() {
    if is_sticky(LAST.get()) {
        LAST.set(SUCCESS);
    }
}

/// Whether the driver still answers with an error.
fn still_holds(error: Code) -> bool {
    // SAFETY: any thread may ask about the default stream.
    unsafe { cu::cuStreamQuery(std::ptr::null_mut()) == error }
}
