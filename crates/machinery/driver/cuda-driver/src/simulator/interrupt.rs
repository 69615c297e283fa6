//! Ctrl-C during a launch. A program that handles SIGINT itself, as Python does, acts on it only after its
//! driver call returns, which an endless kernel never does. So the simulator ends the launch first and then
//! runs the program's handler. Warpbook's own programs terminate on Ctrl-C without this, so they do not
//! enable it.

/// A guard: while it lives, Ctrl-C ends the running launch, if that is enabled.
pub struct InterruptGuard {
    #[cfg(unix)]
    _previous: Option<unix::PreviousAction>,
}

impl InterruptGuard {
    #[cfg_attr(not(unix), expect(unused_variables, reason = "there is no SIGINT"))]
    pub fn new(enabled: bool) -> Self {
        cuda_sim::exec::forget_interrupts();
        Self {
            #[cfg(unix)]
            _previous: enabled.then(unix::PreviousAction::replace).flatten(),
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicPtr, Ordering};

    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, sigaction, siginfo_t};

    /// The program's signal action while it is replaced. One is enough, because launches run one at a time. Its
    /// own static, because a signal handler takes no argument.
    static PREVIOUS_ACTION: AtomicPtr<sigaction> = AtomicPtr::new(null_mut());

    /// The program's signal action, which is restored on drop.
    #[must_use]
    pub struct PreviousAction(Box<sigaction>);

    impl PreviousAction {
        /// Replaces the program's handler. Returns `None` if it has none: then Ctrl-C terminates it or is
        /// ignored.
        pub fn replace() -> Option<Self> {
            let mut action = MaybeUninit::<sigaction>::uninit();
            // SAFETY: `action` is large enough for the action, which `sigaction` fully writes on success.
            let action = unsafe {
                if sigaction(SIGINT, null(), action.as_mut_ptr()) != 0 {
                    return None;
                }
                action.assume_init()
            };
            if [SIG_DFL, SIG_IGN].contains(&action.sa_sigaction) {
                return None;
            }
            let mut previous = Box::new(action);
            PREVIOUS_ACTION.store(&mut *previous, Ordering::Release);
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
            PREVIOUS_ACTION.store(null_mut(), Ordering::Release);
        }
    }

    extern "C" fn handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        cuda_sim::exec::interrupt();
        // SAFETY: the pointer is null or points into the box of `PreviousAction`, which lives while this
        // handler is installed.
        let Some(previous) = (unsafe { PREVIOUS_ACTION.load(Ordering::Acquire).as_ref() }) else {
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
