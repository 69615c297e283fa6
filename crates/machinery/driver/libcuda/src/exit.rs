//! A hook for the end of the program: on return from `main`, on `exit`, and on terminating signals.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

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
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    extern "C" fn at_exit() {
        run_hook();
    }
    let _ = HOOK.set(hook);
    // SAFETY: `atexit` has this signature in every C library, and this library is never unloaded. If
    // registration fails, there is no report.
    unsafe { atexit(at_exit) };
}

#[cfg(unix)]
pub use unix::handle_signals;

/// Does nothing: signals do not end programs on this system.
#[cfg(not(unix))]
pub fn handle_signals() {}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicI32, Ordering};

    use libc::{
        POLLIN, SA_ONSTACK, SIG_DFL, SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV,
        SIGTERM, sigaction,
    };

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
        let (Some([request_read, request_write]), Some([done_read, done_write])) = (pipe(), pipe())
        else {
            return;
        };
        let thread = std::thread::Builder::new().name("exit hook".to_owned());
        let spawned = thread.spawn(move || {
            let mut byte = 0_u8;
            // SAFETY: `byte` is writable and one byte long.
            while unsafe { libc::read(request_read, (&raw mut byte).cast(), 1) } != 1 {}
            super::run_hook();
            // SAFETY: `byte` is readable and one byte long.
            unsafe { libc::write(done_write, (&raw const byte).cast(), 1) };
        });
        if spawned.is_err() {
            return;
        }
        REQUEST_FD.store(request_write, Ordering::Release);
        DONE_FD.store(done_read, Ordering::Release);
        // SAFETY: `getpid` has no preconditions.
        OWNER.store(unsafe { libc::getpid() }, Ordering::Release);
        for signal in TERMINATING {
            install_handler(signal);
        }
    }

    /// Creates a pipe that child processes do not inherit.
    fn pipe() -> Option<[c_int; 2]> {
        let mut descriptors = [-1; 2];
        // SAFETY: `descriptors` has room for two descriptors.
        if unsafe { libc::pipe(descriptors.as_mut_ptr()) } != 0 {
            return None;
        }
        for descriptor in descriptors {
            // SAFETY: `descriptor` is an open descriptor, returned by `pipe`.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Some(descriptors)
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
        // SAFETY: only async-signal-safe functions are called, with pointers to local variables.
        unsafe {
            if libc::getpid() == OWNER.load(Ordering::Acquire) {
                let byte = 1_u8;
                libc::write(
                    REQUEST_FD.load(Ordering::Acquire),
                    (&raw const byte).cast(),
                    1,
                );
                let mut completion = libc::pollfd {
                    fd: DONE_FD.load(Ordering::Acquire),
                    events: POLLIN,
                    revents: 0,
                };
                libc::poll(&mut completion, 1, TIMEOUT_MS);
            }
            let mut action = MaybeUninit::<sigaction>::zeroed().assume_init();
            action.sa_sigaction = SIG_DFL;
            sigaction(signal, &action, null_mut());
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut());
            libc::raise(signal);
        }
    }
}
