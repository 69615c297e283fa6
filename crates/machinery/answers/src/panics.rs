//! A panic of the student's code, in words.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

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
    pub fn caught<T>(&self, work: impl FnOnce() -> T) -> Result<T, String> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
            let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *said)
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
