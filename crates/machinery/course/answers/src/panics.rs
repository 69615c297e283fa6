//! Capture of panics in the student's code.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The current call of the student's code, in source form.
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls the student's code, recording `call` for the case that it panics.
pub fn with_call<T>(call: String, work: impl FnOnce() -> T) -> T {
    CALL.set(call);
    let result = work();
    CALL.take();
    result
}

/// A caught panic.
#[derive(Debug, PartialEq, Eq)]
pub struct CaughtPanic {
    /// The message and the source location.
    pub message: String,
    /// The call, such as `blocks(7, 2)`; empty if unknown.
    pub call: String,
}

/// A panic hook that records the first message instead of printing it.
pub struct PanicRecorder(Arc<Mutex<String>>);

impl PanicRecorder {
    /// Installs the hook.
    pub fn install() -> PanicRecorder {
        let message = Arc::new(Mutex::new(String::new()));
        let recorded = Arc::clone(&message);
        panic::set_hook(Box::new(move |panic| {
            let mut message = recorded.lock().unwrap_or_else(PoisonError::into_inner);
            // Record only the first panic, which causes the others.
            if message.is_empty() {
                *message = format_message(panic.payload_as_str(), panic.location());
            }
        }));
        PanicRecorder(message)
    }

    /// Runs `work`; returns the recorded message if it panics.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
            let mut message = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            CaughtPanic {
                message: std::mem::take(&mut *message),
                call: CALL.take(),
            }
        })
    }
}

fn format_message(message: Option<&str>, location: Option<&panic::Location>) -> String {
    let message = message.unwrap_or("?");
    match location {
        Some(location) => format!("{message}\n  {}:{}", location.file(), location.line()),
        None => message.to_owned(),
    }
}
