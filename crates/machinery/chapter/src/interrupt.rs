//! Ctrl-C, and a request to end, leave nothing half-written and nothing behind.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::{process, thread};

use anyhow::{Context as _, Result};

use crate::progress;
use common::error::note;

/// Held while something must not be cut short.
static WHOLE: Mutex<()> = Mutex::new(());

/// Held by all who have a process or a folder that must not be left behind.
static TIDY: RwLock<()> = RwLock::new(());

/// The exit code with which the program is about to end; 0 where it is not.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// What is done last.
static LAST: Mutex<Option<fn()>> = Mutex::new(None);

/// Makes Ctrl-C, or a request to end (SIGTERM, SIGHUP), take the progress bar away and end the program with
/// the code that a shell reports for the signal: 128 and its number. It waits for what [`hold`] protects,
/// and until all who are [`tidy`] are done; when it comes again, it does not. A SIGHUP that `nohup` has
/// switched off stays so.
///
/// # Errors
///
/// Where the system does not let the program handle signals, or it already does.
pub fn install(said: &'static str) -> Result<()> {
    signals::each(move |code| {
        if ENDING.swap(code, Ordering::SeqCst) != 0 {
            process::exit(code);
        }
        // Waiting here would keep the second one from getting through.
        if start("end", move || end(said, code)).is_err() {
            end(said, code);
        }
    })
    .context("cannot handle Ctrl-C")
}

fn end(said: &str, code: i32) {
    let _whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let _tidied = TIDY.write().unwrap_or_else(PoisonError::into_inner);
    progress::settle();
    if let Some(last) = LAST.lock().unwrap_or_else(PoisonError::into_inner).take() {
        last();
    }
    note(said);
    process::exit(code);
}

/// Puts the end off until the guard is dropped: for writing a file or a result. Once the program is to
/// end, nothing more is begun.
pub fn hold() -> MutexGuard<'static, ()> {
    let whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    if ending() {
        drop(whole);
        wait();
    }
    whole
}

/// Puts the end off until the guard is dropped: for who has a process or a folder that must not be left
/// behind, looks often whether the program is [`ending`], and tidies up then. Once the program is to end,
/// nothing more is begun.
pub fn tidy() -> RwLockReadGuard<'static, ()> {
    let tidy = TIDY.read().unwrap_or_else(PoisonError::into_inner);
    if ending() {
        drop(tidy);
        wait();
    }
    tidy
}

/// Whether the program is to end.
pub fn ending() -> bool {
    ENDING.load(Ordering::SeqCst) != 0
}

/// Waits for the end, which is near.
pub fn wait() -> ! {
    loop {
        thread::park();
    }
}

/// What is done last when the program is to end before its time: a terminal put back, for one.
pub fn at_last(last: Option<fn()>) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = last;
}

/// Starts a thread; where the system has none left, that is an error and no panic.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

#[cfg(unix)]
mod signals {
    use std::{io, mem::MaybeUninit, ptr};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// What a shell adds to a signal's number.
    const SIGNALLED: i32 = 128;

    /// Calls `then` with the exit code of each signal that asks the program to end.
    pub fn each(then: impl Fn(i32) + Send + 'static) -> io::Result<()> {
        let mut asked = vec![SIGINT, SIGTERM];
        asked.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
        let mut signals = Signals::new(asked)?;
        super::start("signals", move || {
            for signal in signals.forever() {
                then(SIGNALLED + signal);
            }
        })
    }

    /// Whether whoever started the program has switched a signal off.
    fn is_ignored(signal: i32) -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: no other action is given, and there is a place for the present one.
        let status = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) };
        // SAFETY: it has been written where the call has succeeded.
        status == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    /// What a shell reports for a program that Ctrl-C ended.
    const INTERRUPTED: i32 = 130;

    /// Calls `then` with the exit code whenever Ctrl-C is pressed or the console closes.
    pub fn each(then: impl Fn(i32) + Send + 'static) -> io::Result<()> {
        ctrlc::set_handler(move || then(INTERRUPTED)).map_err(io::Error::other)
    }
}
