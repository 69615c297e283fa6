//! The end of the program: it returns, calls `exit`, or a signal ends it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static THEN: OnceLock<fn()> = OnceLock::new();

/// What is done at the end is done once.
fn end() {
    static ENDED: AtomicBool = AtomicBool::new(false);
    if let Some(then) = THEN.get()
        && !ENDED.swap(true, Ordering::SeqCst)
    {
        // The program's end is none of a fault here.
        let _ = std::panic::catch_unwind(then);
    }
}

/// Has `then` called when the program exits. What is registered later is called before.
pub fn at_exit(then: fn()) {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    extern "C" fn at_exit() {
        end();
    }
    let _ = THEN.set(then);
    // SAFETY: `atexit` is in C's library on every platform, and the library stays as long as the program. If C
    // has no room for it, nothing is told.
    unsafe { atexit(at_exit) };
}

#[cfg(unix)]
pub use unix::at_signals;

/// Signals do not end programs there.
#[cfg(not(unix))]
pub fn at_signals() {}

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

    /// What ends a program that has not said what else it is to do.
    const ENDING: [c_int; 8] = [
        SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV, SIGTERM,
    ];

    /// A crashed thread may hold what the summary takes: then it is done without.
    const PATIENCE_MS: c_int = 5000;

    /// The ends of pipes: where a handler says that the program ends, and where it hears that all is told.
    static SAY: AtomicI32 = AtomicI32::new(-1);
    static HEAR: AtomicI32 = AtomicI32::new(-1);

    /// The process that has the thread which answers: a child of `fork` has it not.
    static OWNER: AtomicI32 = AtomicI32::new(0);

    /// Has what was given to [`super::at_exit`] done as well where a signal ends the program. A handler may do next to
    /// nothing, so a thread that waits for it does the work. Signals for which the program has its own handler are its
    /// own.
    pub fn at_signals() {
        let (Some([asked, ask]), Some([done, finish])) = (pipe(), pipe()) else {
            return;
        };
        let thread = std::thread::Builder::new().name("warpbook's end".to_owned());
        let waits = thread.spawn(move || {
            let mut byte = 0_u8;
            // SAFETY: there is room for the byte, here and below.
            while unsafe { libc::read(asked, (&raw mut byte).cast(), 1) } != 1 {}
            super::end();
            // SAFETY: as above.
            unsafe { libc::write(finish, (&raw const byte).cast(), 1) };
        });
        if waits.is_err() {
            return;
        }
        SAY.store(ask, Ordering::Release);
        HEAR.store(done, Ordering::Release);
        // SAFETY: it only answers.
        OWNER.store(unsafe { libc::getpid() }, Ordering::Release);
        for signal in ENDING {
            watch(signal);
        }
    }

    /// A pipe that programs which this one starts do not get.
    fn pipe() -> Option<[c_int; 2]> {
        let mut ends = [-1; 2];
        // SAFETY: there is room for two.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
            return None;
        }
        for end in ends {
            // SAFETY: it is open.
            unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Some(ends)
    }

    fn watch(signal: c_int) {
        let mut found = MaybeUninit::<sigaction>::uninit();
        // SAFETY: no other action is given, and there is a place for the present one.
        if unsafe { sigaction(signal, null(), found.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: it has been written.
        let mut action = unsafe { found.assume_init() };
        if action.sa_sigaction != SIG_DFL {
            return;
        }
        action.sa_sigaction = handler as extern "C" fn(c_int) as usize;
        action.sa_flags = SA_ONSTACK;
        // SAFETY: the handler takes one argument, as the flags say.
        unsafe { sigaction(signal, &action, null_mut()) };
    }

    /// Has all told, and ends the program by the same signal.
    extern "C" fn handler(signal: c_int) {
        // SAFETY: what is called here may be called in a handler of signals.
        unsafe {
            if libc::getpid() == OWNER.load(Ordering::Acquire) {
                let byte = 1_u8;
                libc::write(SAY.load(Ordering::Acquire), (&raw const byte).cast(), 1);
                let mut done = libc::pollfd {
                    fd: HEAR.load(Ordering::Acquire),
                    events: POLLIN,
                    revents: 0,
                };
                libc::poll(&mut done, 1, PATIENCE_MS);
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
