//! Capture of panics in the student's code.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The current call of the student's code, in source form.
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls the student's code, recording `call` for the case that it panics.
pub fn calling<T>(call: String, work: impl FnOnce() -> T) -> T {
    CALL.set(call);
    let done = work();
    CALL.take();
    done
}

/// A caught panic.
#[derive(Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The message and the source location.
    pub why: String,
    /// The call, such as `blocks(7, 2)`; empty if unknown.
    pub call: String,
}

/// A panic hook that records the first message instead of printing it.
pub struct Panics(Arc<Mutex<String>>);

impl Panics {
    /// Installs the hook.
    pub fn kept() -> Panics {
        let said = Arc::new(Mutex::new(String::new()));
        let to = Arc::clone(&said);
        panic::set_hook(Box::new(move |panic| {
            let mut said = to.lock().unwrap_or_else(PoisonError::into_inner);
            // Record only the first panic, which causes the others.
            if said.is_empty() {
                *said = in_words(panic.payload_as_str(), panic.location());
            }
        }));
        Panics(said)
    }

    /// Runs `work`; returns the recorded message if it panics.
    pub fn caught<T>(&self, work: impl FnOnce() -> T) -> Result<T, Panicked> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
            let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Panicked {
                why: std::mem::take(&mut *said),
                call: CALL.take(),
            }
        })
    }
}

fn in_words(what: Option<&str>, place: Option<&panic::Location>) -> String {
    let what = what.unwrap_or("?");
    match place {
        Some(place) => format!("{what}\n  {}:{}", place.file(), place.line()),
        None => what.to_owned(),
    }
}
