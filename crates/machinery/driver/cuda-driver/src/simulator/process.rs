//! Events of the process: Ctrl-C and requests to terminate during a launch, and forks.
//!
//! A signal ends the running launch, so that its report lists the lines at which the threads are.
//!
//! A program that handles SIGINT itself, as Python does, acts on it only after its driver call returns, which an endless
//! kernel never does. Its handler is called immediately, in addition to the request to end the launch. If the program has
//! no handler, the signal terminates it when the launch has ended and is reported.
//!
//! Warpbook's own programs terminate on Ctrl-C without this, so they do not enable it.
//!
//! A child process that `fork` creates has a copy of the memory but none of the threads, so every call of the simulator
//! returns `CUDA_ERROR_NOT_INITIALIZED` there, as NVIDIA's driver does. A child that was forked before `cuInit` may call
//! `cuInit` itself.

#[cfg(unix)]
pub use unix::{
    PendingSignal, defer_final_handler, defer_termination, detect_forks, in_child, replace_handler,
};

/// A guard: while it lives, Ctrl-C ends the running launch, if that is enabled.
pub struct InterruptGuard(());

impl InterruptGuard {
    pub fn new() -> Self {
        cuda_sim::exec::forget_interrupts();
        #[cfg(unix)]
        unix::set_running(true);
        Self(())
    }

    /// Ends the guard and returns the signal that came during the launch and terminates the program.
    pub fn finish(self) -> PendingSignal {
        drop(self);
        PendingSignal::take()
    }
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            unix::set_running(false);
            unix::restore_handler();
        }
    }
}

#[cfg(not(unix))]
pub use other::{PendingSignal, defer_termination, detect_forks, in_child, replace_handler};

#[cfg(not(unix))]
mod other {
    /// Returns false: there is no `fork` on this system.
    pub fn in_child() -> bool {
        false
    }

    pub fn detect_forks() {}

    pub fn defer_termination() {}

    pub fn replace_handler() {}

    pub struct PendingSignal;

    impl PendingSignal {
        pub fn take() -> Self {
            PendingSignal
        }

        pub fn raise(self) {}
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr::{null, null_mut};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};

    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, SIGTERM, sigaction, siginfo_t};

    use cuda_sim::memory::lock;

    /// The state that the handlers of signals and forks share with the rest of the driver.
    struct HandlerState {
        /// The program's handler of SIGINT while it is replaced. One is enough, because launches run one at a time.
        previous: AtomicPtr<sigaction>,
        /// The same handler, which is restored when the launch ends. Signal handlers do not use it.
        replaced: Mutex<Option<PreviousAction>>,
        /// The actions of SIGINT and SIGTERM that [`terminating_handler`] replaced.
        final_actions: [AtomicPtr<sigaction>; 2],
        /// The address of a handler that terminates the program, or 0.
        final_handler: AtomicUsize,
        /// True while a launch runs; in a child of `fork` also if one ran then.
        running: AtomicBool,
        /// The signal that terminates the program when the running launch has ended, or 0.
        pending: AtomicI32,
        /// True in a forked child.
        in_child: AtomicBool,
    }

    /// The shared state. A static, because a handler of a signal or a fork takes no argument.
    static HANDLERS: HandlerState = HandlerState {
        previous: AtomicPtr::new(null_mut()),
        replaced: Mutex::new(None),
        final_actions: [const { AtomicPtr::new(null_mut()) }; 2],
        final_handler: AtomicUsize::new(0),
        running: AtomicBool::new(false),
        pending: AtomicI32::new(0),
        in_child: AtomicBool::new(false),
    };

    /// Returns true if this process was forked from the one that started the simulator.
    pub fn in_child() -> bool {
        HANDLERS.in_child.load(Ordering::Relaxed)
    }

    /// Registers a fork handler so that `in_child` works.
    pub fn detect_forks() {
        type Handler = Option<extern "C" fn()>;

        unsafe extern "C" {
            fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
        }

        extern "C" fn after_fork() {
            HANDLERS.in_child.store(true, Ordering::Relaxed);
        }

        // SAFETY: `pthread_atfork` has this signature in the C library of every Unix, and the handler only stores to an
        // atomic, which is allowed after `fork`. If registration fails, a child that calls the simulator may deadlock.
        unsafe { pthread_atfork(None, None, Some(after_fork)) };
    }

    /// Replaces the program's handler of SIGINT, if it has one, until the running launch ends. Takes a system call, so
    /// only launches that are not short do this.
    pub fn replace_handler() {
        let mut replaced = lock(&HANDLERS.replaced);
        if replaced.is_none() {
            *replaced = PreviousAction::replace();
        }
    }

    /// Restores the program's handler of SIGINT, if it was replaced.
    pub fn restore_handler() {
        *lock(&HANDLERS.replaced) = None;
    }

    pub fn set_running(running: bool) {
        HANDLERS.running.store(running, Ordering::SeqCst);
    }

    /// Registers a handler that terminates the program, to be treated as the default action.
    pub fn defer_final_handler(handler: extern "C" fn(c_int)) {
        HANDLERS
            .final_handler
            .store(handler as usize, Ordering::Relaxed);
    }

    /// Lets SIGINT and SIGTERM end a running launch before they terminate the program, unless it handles or ignores
    /// them.
    pub fn defer_termination() {
        for signal in [SIGINT, SIGTERM] {
            let Some(action) = action_of(signal) else {
                continue;
            };
            let handler = action.sa_sigaction;
            if handler != SIG_DFL && handler != HANDLERS.final_handler.load(Ordering::Relaxed) {
                continue;
            }
            let mut replacement = action;
            replacement.sa_sigaction = terminating_handler as extern "C" fn(c_int) as usize;
            replacement.sa_flags &= !SA_SIGINFO;
            let final_action = Box::leak(Box::new(action));
            HANDLERS.final_actions[index(signal)].store(final_action, Ordering::Release);
            // SAFETY: `terminating_handler` takes one argument, as the flags without `SA_SIGINFO` require.
            unsafe { sigaction(signal, &replacement, null_mut()) };
        }
    }

    fn index(signal: c_int) -> usize {
        usize::from(signal == SIGTERM)
    }

    fn action_of(signal: c_int) -> Option<sigaction> {
        let mut action = MaybeUninit::<sigaction>::uninit();
        // SAFETY: `action` is large enough for the action, which `sigaction` fully writes on success.
        unsafe {
            if sigaction(signal, null(), action.as_mut_ptr()) != 0 {
                return None;
            }
            Some(action.assume_init())
        }
    }

    extern "C" fn terminating_handler(signal: c_int) {
        let (pending, order) = (&HANDLERS.pending, Ordering::SeqCst);
        let earlier = pending.compare_exchange(0, signal, order, order);
        // A second Ctrl-C does not wait for the launch.
        let is_repeated = signal == SIGINT && earlier == Err(SIGINT);
        let running = HANDLERS.running.load(Ordering::SeqCst) && !in_child();
        if running && !is_repeated {
            cuda_sim::exec::interrupt();
        } else {
            terminate(signal);
        }
    }

    /// Lets a signal take its original effect. Async-signal-safe.
    fn terminate(signal: c_int) {
        let action = HANDLERS.final_actions[index(signal)].load(Ordering::Acquire);
        // SAFETY: `action` is an action of this signal. In a handler the signal is blocked, and delivered when the
        // handler returns.
        unsafe {
            sigaction(signal, action, null_mut());
            libc::raise(signal);
        }
    }

    /// A signal that came during a launch, or 0.
    #[must_use]
    pub struct PendingSignal(c_int);

    impl PendingSignal {
        pub fn take() -> Self {
            PendingSignal(HANDLERS.pending.swap(0, Ordering::SeqCst))
        }

        /// Terminates the program if there was a signal.
        pub fn raise(self) {
            if self.0 != 0 {
                terminate(self.0);
            }
        }
    }

    /// The program's handler of SIGINT, which is restored on drop.
    #[must_use]
    pub struct PreviousAction(Box<sigaction>);

    impl PreviousAction {
        /// Replaces the program's handler. Returns `None` if it has none.
        pub fn replace() -> Option<Self> {
            let action = action_of(SIGINT)?;
            let terminating = terminating_handler as extern "C" fn(c_int) as usize;
            if [SIG_DFL, SIG_IGN, terminating].contains(&action.sa_sigaction) {
                return None;
            }
            let mut previous = Box::new(action);
            HANDLERS.previous.store(&mut *previous, Ordering::Release);
            let mut replacement = action;
            replacement.sa_sigaction = handler as *const () as usize;
            replacement.sa_flags |= SA_SIGINFO;
            // SAFETY: `handler` has the signature that `SA_SIGINFO` requires.
            unsafe { sigaction(SIGINT, &replacement, null_mut()) };
            Some(Self(previous))
        }
    }

    impl Drop for PreviousAction {
        fn drop(&mut self) {
            // SAFETY: the action came from `sigaction` itself. The pointer that the handler reads is cleared
            // afterwards.
            unsafe { sigaction(SIGINT, &*self.0, null_mut()) };
            HANDLERS.previous.store(null_mut(), Ordering::Release);
        }
    }

    extern "C" fn handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        cuda_sim::exec::interrupt();
        // SAFETY: the pointer is null or points into the box of `PreviousAction`, which lives while this
        // handler is installed.
        let Some(previous) = (unsafe { HANDLERS.previous.load(Ordering::Acquire).as_ref() }) else {
            return;
        };
        type SimpleHandler = extern "C" fn(c_int);
        type InfoHandler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        let function = previous.sa_sigaction as *const ();
        // SAFETY: a handler other than `SIG_DFL` and `SIG_IGN` is a function with the signature that its
        // flags state.
        unsafe {
            if previous.sa_flags & SA_SIGINFO != 0 {
                std::mem::transmute::<*const (), InfoHandler>(function)(signal, info, context);
            } else {
                std::mem::transmute::<*const (), SimpleHandler>(function)(signal);
            }
        }
    }
}
