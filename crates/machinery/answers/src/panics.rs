//! A panic of the student's code, in words.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The call of the student's code that is under way, as it would be written.
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls the student's code; where it panics, `call` tells which call it was.
pub fn calling<T>(call: String, work: impl FnOnce() -> T) -> T {
    CALL.set(call);
    let done = work();
    CALL.take();
    done
}

/// What a panic says, and in which call, where that is known.
#[derive(Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The message and the place.
    pub why: String,
    /// The call, as `blocks(7, 2)`; empty where it is not known.
    pub call: String,
}

/// Keeps what the next panic says, in place of printing it.
pub struct Panics(Arc<Mutex<String>>);

impl Panics {
    /// From now on.
    pub fn kept() -> Panics {
        let said = Arc::new(Mutex::new(String::new()));
        let to = Arc::clone(&said);
        panic::set_hook(Box::new(move |panic| {
            let mut said = to.lock().unwrap_or_else(PoisonError::into_inner);
            // The first is the cause of any other.
            if said.is_empty() {
                *said = in_words(panic.payload_as_str(), panic.location());
            }
        }));
        Panics(said)
    }

    /// Does it; where it panics, the error is what the panic said.
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
