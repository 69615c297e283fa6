//! A clean exit on Ctrl-C and on termination signals: no half-written file, no child process and no temporary
//! folder is left behind.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::{process, thread};

use anyhow::{Context as _, Result};

use crate::progress;
use common::error::note;

/// Locked while a file or a result is written, which must not be cut short.
static WHOLE: Mutex<()> = Mutex::new(());

/// Read-locked by owners of a child process or a temporary folder, which must be cleaned up before the exit.
static TIDY: RwLock<()> = RwLock::new(());

/// The exit code once the program is shutting down; 0 before.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// Hook that runs after all cleanup.
static LAST: Mutex<Option<fn()>> = Mutex::new(None);

/// Installs a handler for Ctrl-C, SIGTERM and SIGHUP. It clears the progress bar and ends the program with
/// the code that a shell reports for the signal, 128 plus its number, after everything that [`hold`] and
/// [`tidy`] protect is done. A second signal ends the program at once. A SIGHUP that `nohup` ignores stays
/// ignored.
///
/// # Errors
///
/// Fails if the system does not allow signal handlers, or the program already has one.
pub fn install(said: &'static str) -> Result<()> {
    signals::each(move |code| {
        if ENDING.swap(code, Ordering::SeqCst) != 0 {
            process::exit(code);
        }
        // Waiting on this thread would block the second signal.
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

/// Defers the exit until the guard is dropped, while a file or a result is written. Never returns once the
/// program is shutting down.
pub fn hold() -> MutexGuard<'static, ()> {
    let whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    if ending() {
        drop(whole);
        wait();
    }
    whole
}

/// Defers the exit until the guard is dropped, for the owner of a child process or a temporary folder that
/// must be cleaned up. The owner polls [`ending`] and cleans up when it is true. Never returns once the
/// program is shutting down.
pub fn tidy() -> RwLockReadGuard<'static, ()> {
    let tidy = TIDY.read().unwrap_or_else(PoisonError::into_inner);
    if ending() {
        drop(tidy);
        wait();
    }
    tidy
}

/// Returns true if the program is shutting down.
pub fn ending() -> bool {
    ENDING.load(Ordering::SeqCst) != 0
}

/// Blocks until the program exits, which it is about to do.
pub fn wait() -> ! {
    loop {
        thread::park();
    }
}

/// Sets the hook that runs last when a signal ends the program, for example to restore a terminal.
pub fn at_last(last: Option<fn()>) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = last;
}

/// Starts a thread; returns an error instead of panicking if the system has no threads left.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

#[cfg(unix)]
mod signals {
    use std::{io, mem::MaybeUninit, ptr};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// Added to a signal's number by shells to make an exit code.
    const SIGNALLED: i32 = 128;

    /// Calls `then` with the exit code of each termination signal that arrives.
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

    /// Returns true if the parent process made the program ignore a signal (as `nohup` does).
    fn is_ignored(signal: i32) -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: the new action is null, so nothing is changed; `now` is writable and has the type of an old
        // action.
        let status = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) };
        // SAFETY: `sigaction` returned 0, so it has initialized `now`.
        status == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    /// Exit code that shells report after Ctrl-C.
    const INTERRUPTED: i32 = 130;

    /// Calls `then` with the exit code whenever Ctrl-C is pressed or the console closes.
    pub fn each(then: impl Fn(i32) + Send + 'static) -> io::Result<()> {
        ctrlc::set_handler(move || then(INTERRUPTED)).map_err(io::Error::other)
    }
}
