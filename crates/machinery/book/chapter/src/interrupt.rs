//! A clean exit on Ctrl-C and on termination signals: no half-written file, no child process and no temporary
//! folder is left behind.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::{process, thread};

use anyhow::{Context as _, Result};

use crate::progress::{self, lock};
use common::error::note;

/// Locked while a file or a result is written, which must not be cut short.
static CRITICAL: Mutex<()> = Mutex::new(());

/// Read-locked by owners of a child process or a temporary folder, which must be cleaned up before the exit.
static CLEANUP: RwLock<()> = RwLock::new(());

/// The exit code once the program is shutting down; 0 before.
static EXIT_CODE: AtomicI32 = AtomicI32::new(0);

/// Hook that runs after all cleanup.
static EXIT_HOOK: Mutex<Option<fn()>> = Mutex::new(None);

/// Installs a handler for Ctrl-C, SIGTERM and SIGHUP. It clears the progress bar and ends the program with
/// the code that a shell reports for the signal, 128 plus its number, after everything that [`defer`] and
/// [`cleanup_guard`] protect is done. A second signal ends the program at once. A SIGHUP that `nohup` ignores
/// stays ignored.
///
/// # Errors
///
/// Fails if the system does not allow signal handlers, or the program already has one.
pub fn install(message: &'static str) -> Result<()> {
    signals::on_signal(move |code| {
        if EXIT_CODE.swap(code, Ordering::SeqCst) != 0 {
            process::exit(code);
        }
        // Waiting on this thread would block the second signal.
        if spawn("end", move || shut_down(message, code)).is_err() {
            shut_down(message, code);
        }
    })
    .context("cannot handle Ctrl-C")
}

/// Leaves Ctrl-C to a child process, which receives the signal too, instead of [installing](install) a handler.
/// Returns a flag that is set by a request to terminate, which the program forwards to its child.
///
/// # Errors
///
/// Fails if the system does not allow signal handlers.
pub fn leave_to_child() -> Result<Arc<AtomicBool>> {
    let stop_requested = Arc::new(AtomicBool::new(false));
    signals::leave_to_child(&stop_requested).context("cannot handle Ctrl-C")?;
    Ok(stop_requested)
}

fn shut_down(message: &str, code: i32) {
    let _critical = lock(&CRITICAL);
    let _cleanup = CLEANUP.write().unwrap_or_else(PoisonError::into_inner);
    progress::clear_bar();
    if let Some(hook) = lock(&EXIT_HOOK).take() {
        hook();
    }
    note(message);
    process::exit(code);
}

/// Defers the exit until the guard is dropped, while a file or a result is written. Never returns once the
/// program is shutting down.
pub fn defer() -> MutexGuard<'static, ()> {
    let guard = lock(&CRITICAL);
    if is_shutting_down() {
        drop(guard);
        wait_for_exit();
    }
    guard
}

/// Defers the exit until the guard is dropped, for the owner of a child process or a temporary folder that
/// must be cleaned up. The owner polls [`is_shutting_down`] and cleans up when it is true. Never returns once
/// the program is shutting down.
pub fn cleanup_guard() -> RwLockReadGuard<'static, ()> {
    let cleanup_guard = CLEANUP.read().unwrap_or_else(PoisonError::into_inner);
    if is_shutting_down() {
        drop(cleanup_guard);
        wait_for_exit();
    }
    cleanup_guard
}

/// Returns true if the program is shutting down.
pub fn is_shutting_down() -> bool {
    EXIT_CODE.load(Ordering::SeqCst) != 0
}

/// Blocks until the program exits, which it is about to do.
pub fn wait_for_exit() -> ! {
    loop {
        thread::park();
    }
}

/// Sets the hook that runs last when a signal ends the program, for example to restore a terminal.
pub fn on_exit(hook: Option<fn()>) {
    *lock(&EXIT_HOOK) = hook;
}

/// Starts a thread; returns an error instead of panicking if the system has no threads left.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

#[cfg(unix)]
mod signals {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::{io, mem::MaybeUninit, ptr};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag::register;
    use signal_hook::iterator::Signals;

    /// Added to a signal's number by shells to make an exit code.
    const SIGNAL_EXIT_BASE: i32 = 128;

    /// Calls `handler` with the exit code of each termination signal that arrives.
    pub fn on_signal(handler: impl Fn(i32) + Send + 'static) -> io::Result<()> {
        let mut handled = vec![SIGINT, SIGTERM];
        handled.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
        let mut signals = Signals::new(handled)?;
        super::spawn("signals", move || {
            for signal in signals.forever() {
                handler(SIGNAL_EXIT_BASE + signal);
            }
        })
    }

    /// Ignores Ctrl-C, and sets the flag on the other termination signals.
    pub fn leave_to_child(stop_requested: &Arc<AtomicBool>) -> io::Result<()> {
        register(SIGINT, Arc::default())?;
        register(SIGTERM, Arc::clone(stop_requested))?;
        register(SIGHUP, Arc::clone(stop_requested))?;
        Ok(())
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
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// Exit code that shells report after Ctrl-C.
    const INTERRUPTED: i32 = 130;

    /// Calls `handler` with the exit code whenever Ctrl-C is pressed or the console closes.
    pub fn on_signal(handler: impl Fn(i32) + Send + 'static) -> io::Result<()> {
        ctrlc::set_handler(move || handler(INTERRUPTED)).map_err(io::Error::other)
    }

    /// Does nothing: this system has no signals to forward.
    pub fn leave_to_child(_stop_requested: &Arc<AtomicBool>) -> io::Result<()> {
        Ok(())
    }
}
