//! A hook for the end of the program: on return from `main`, on `exit`, and on terminating signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

static HOOK: OnceLock<fn()> = OnceLock::new();

/// Runs the hook, at most once.
fn run_hook() {
    static HAS_RUN: AtomicBool = AtomicBool::new(false);
    if let Some(hook) = HOOK.get()
        && !HAS_RUN.swap(true, Ordering::SeqCst)
    {
        // A panic here must not change how the program exits.
        let _ = std::panic::catch_unwind(hook);
    }
}

/// Runs `hook` when the program exits, after handlers that are registered later.
pub fn at_exit(hook: fn()) {
    let _ = HOOK.set(hook);
    register_handlers();
}

/// Registers the exit handlers: the driver's, which reports leaks, and then the hook, which may be set later. If this
/// precedes the program's first global object, the program's destructors run before them.
pub fn register_handlers() {
    static REGISTERED: Once = Once::new();
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    extern "C" fn at_exit() {
        run_hook();
    }
    REGISTERED.call_once(|| {
        // SAFETY: `atexit` has this signature in every C library, and this library is never unloaded. If
        // registration fails, there is no report.
        unsafe { atexit(at_exit) };
        cuda_driver::check_leaks_at_exit();
    });
}

#[cfg(unix)]
pub use unix::handle_signals;

/// Does nothing: signals do not end programs on this system.
#[cfg(not(unix))]
pub fn handle_signals() {}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
    use std::mem::MaybeUninit;
    use std::os::fd::IntoRawFd as _;
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicI32, Ordering};

    use libc::{
        POLLIN, SA_ONSTACK, SIG_DFL, SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV,
        SIGTERM, sigaction,
    };
    use signal_hook::low_level::emulate_default_handler;

    /// The signals whose default action terminates a program.
    const TERMINATING: [c_int; 8] = [
        SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV, SIGTERM,
    ];

    /// Time limit for the hook in milliseconds: a crashed thread may hold a lock that the summary needs.
    const TIMEOUT_MS: c_int = 5000;

    /// Pipe ends of the signal handler: one to request the hook, one to wait for its completion.
    static REQUEST_FD: AtomicI32 = AtomicI32::new(-1);
    static DONE_FD: AtomicI32 = AtomicI32::new(-1);

    /// Owner process of the service thread; forked children do not have it.
    static OWNER: AtomicI32 = AtomicI32::new(0);

    /// Runs the hook of [`super::at_exit`] also when a signal terminates the program. Signal handlers may
    /// call only async-signal-safe functions, so the handler wakes a thread that runs the hook. Signals with
    /// a handler of the program are left alone.
    pub fn handle_signals() {
        let (Ok((request, request_writer)), Ok((done, done_writer))) = (pipe(), pipe()) else {
            return;
        };
        let thread = std::thread::Builder::new().name("exit hook".to_owned());
        if thread.spawn(move || serve(request, done_writer)).is_err() {
            return;
        }
        REQUEST_FD.store(request_writer.into_raw_fd(), Ordering::Release);
        DONE_FD.store(done.into_raw_fd(), Ordering::Release);
        // SAFETY: `getpid` has no preconditions.
        OWNER.store(unsafe { libc::getpid() }, Ordering::Release);
        for signal in TERMINATING {
            install_handler(signal);
        }
        cuda_driver::defer_final_handler(handler);
    }

    /// Runs the hook when the signal handler requests it, and reports its completion.
    fn serve(mut request: PipeReader, mut done: PipeWriter) {
        if request.read_exact(&mut [0]).is_ok() {
            super::run_hook();
            // Without this report the handler waits until its timeout.
            let _ = done.write_all(&[0]);
        }
    }

    /// Installs the handler for a signal that has its default action.
    fn install_handler(signal: c_int) {
        let mut current = MaybeUninit::<sigaction>::uninit();
        // SAFETY: no new action is passed, and `current` is writable.
        if unsafe { sigaction(signal, null(), current.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: `sigaction` succeeded, so it wrote the current action.
        let mut action = unsafe { current.assume_init() };
        if action.sa_sigaction != SIG_DFL {
            return;
        }
        action.sa_sigaction = handler as extern "C" fn(c_int) as usize;
        action.sa_flags = SA_ONSTACK;
        // SAFETY: `handler` takes one argument, as the flags without `SA_SIGINFO` require.
        unsafe { sigaction(signal, &action, null_mut()) };
    }

    /// Runs the hook, then terminates the program with the same signal.
    extern "C" fn handler(signal: c_int) {
        // SAFETY: `getpid` has no preconditions.
        if unsafe { libc::getpid() } == OWNER.load(Ordering::Acquire) {
            let byte = 1_u8;
            let request = REQUEST_FD.load(Ordering::Acquire);
            let mut completion = libc::pollfd {
                fd: DONE_FD.load(Ordering::Acquire),
                events: POLLIN,
                revents: 0,
            };
            // SAFETY: both functions are async-signal-safe, `byte` is readable, and `completion` is one
            // writable entry.
            unsafe {
                libc::write(request, (&raw const byte).cast(), 1);
                libc::poll(&mut completion, 1, TIMEOUT_MS);
            }
        }
        // Fails only for signals that it does not know, and it knows all of `TERMINATING`.
        let _ = emulate_default_handler(signal);
    }
}
