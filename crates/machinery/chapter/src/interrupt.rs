//! Ctrl-C leaves nothing half-written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use anyhow::{Context as _, Result};

use crate::progress;
use common::error::note;

/// What a shell reports for a program that Ctrl-C ended: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// Held while something must not be cut short.
static WHOLE: Mutex<()> = Mutex::new(());

/// Whether the program is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C, or a request to end, take the progress bar away and end the program. It waits
/// for what [`hold`] protects; pressed again, it does not.
///
/// # Errors
///
/// Where the system does not let the program handle signals, or it already does.
pub fn install() -> Result<()> {
    ctrlc::set_handler(|| {
        if ENDING.swap(true, Ordering::SeqCst) {
            process::exit(INTERRUPTED);
        }
        // Waiting here would keep the second one from getting through.
        thread::spawn(end);
    })
    .context("cannot handle Ctrl-C")
}

fn end() {
    let _whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    progress::settle();
    note("interrupted");
    process::exit(INTERRUPTED);
}

/// Puts Ctrl-C off until the guard is dropped: for writing a file or a result. Once it has been
/// pressed, nothing more is begun.
pub fn hold() -> MutexGuard<'static, ()> {
    let whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    if ENDING.load(Ordering::SeqCst) {
        drop(whole);
        loop {
            thread::park(); // until the handler ends the program
        }
    }
    whole
}
