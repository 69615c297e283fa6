//! A panic of an answer in Rust is an answer that does not run through.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::job::Job;
use crate::data::Step;
use crate::grade::{Failure, Verdict};

/// Does it, and makes a verdict of a panic.
pub fn caught(job: &Job, work: impl FnOnce() -> Result<Verdict>) -> Result<Verdict> {
    let said = Arc::new(Mutex::new(String::new()));
    let to = Arc::clone(&said);
    panic::set_hook(Box::new(move |panic| {
        let mut said = to.lock().unwrap_or_else(PoisonError::into_inner);
        // The first is the cause of any other.
        if said.is_empty() {
            *said = in_words(panic.payload_as_str(), panic.location());
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let mut verdict = Verdict::new(job.seed);
        let message = say!(
            job.lang,
            "It panicked: {}",
            "程序发生 panic：{}";
            said
        );
        verdict.failure = Some(Failure::at(Step::Launch, message));
        Ok(verdict)
    })
}

fn in_words(what: Option<&str>, place: Option<&panic::Location>) -> String {
    let what = what.unwrap_or("?");
    match place {
        Some(place) => format!("{what}\n  {}:{}", place.file(), place.line()),
        None => what.to_owned(),
    }
}
