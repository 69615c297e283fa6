//! Ctrl-C while a launch runs. A program that handles it itself, as Python does, hears of it when its call
//! returns, which for a kernel that never ends would be never: the launch is ended, and then the program's own
//! handler has its say. Our own programs end by themselves, launch and all, and do not ask for it.

use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C ends the launch that is under way where the program handles the signal itself: for programs
/// that expect NVIDIA's driver and know nothing of the simulator.
pub fn end_launches_at_ctrl_c() {
    WANTED.store(true, Ordering::Relaxed);
}

/// While it lives, Ctrl-C ends the launch that is under way, where that is wanted.
pub struct Interruptible {
    #[cfg(unix)]
    _until_the_end: Option<unix::Previous>,
}

impl Interruptible {
    pub fn begin() -> Self {
        cuda_sim::exec::forget_interrupts();
        Self {
            #[cfg(unix)]
            _until_the_end: WANTED
                .load(Ordering::Relaxed)
                .then(unix::Previous::replace)
                .flatten(),
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

    /// The handler that the program has set, while it is replaced: launches are one at a time.
    static BEFORE: AtomicPtr<sigaction> = AtomicPtr::new(null_mut());

    /// The program's own handler, which comes back when this is dropped.
    #[must_use]
    pub struct Previous(Box<sigaction>);

    impl Previous {
        /// Nothing where the program has none: then Ctrl-C ends it, or nothing at all.
        pub fn replace() -> Option<Self> {
            let mut found = MaybeUninit::<sigaction>::uninit();
            // SAFETY: the action is written where there is room for it.
            let found = unsafe {
                if sigaction(SIGINT, null(), found.as_mut_ptr()) != 0 {
                    return None;
                }
                found.assume_init()
            };
            if [SIG_DFL, SIG_IGN].contains(&found.sa_sigaction) {
                return None;
            }
            let mut before = Box::new(found);
            BEFORE.store(&mut *before, Ordering::Release);
            let mut ours = found;
            ours.sa_sigaction = handler as *const () as usize;
            ours.sa_flags |= SA_SIGINFO;
            // SAFETY: the handler is of the kind that the flags say.
            unsafe { sigaction(SIGINT, &ours, null_mut()) };
            Some(Self(before))
        }
    }

    impl Drop for Previous {
        fn drop(&mut self) {
            // SAFETY: it was the program's before. Only then is what the handler reads gone.
            unsafe { sigaction(SIGINT, &*self.0, null_mut()) };
            BEFORE.store(null_mut(), Ordering::Release);
        }
    }

    extern "C" fn handler(signal: c_int, information: *mut siginfo_t, context: *mut c_void) {
        cuda_sim::exec::interrupt();
        // SAFETY: it points to what lives as long as this handler is set.
        let Some(before) = (unsafe { BEFORE.load(Ordering::Acquire).as_ref() }) else {
            return;
        };
        type Plain = extern "C" fn(c_int);
        type Informed = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        let function = before.sa_sigaction as *const ();
        // SAFETY: a handler that is neither of the two that are numbers is a function of the kind that its flags say.
        unsafe {
            if before.sa_flags & SA_SIGINFO != 0 {
                std::mem::transmute::<*const (), Informed>(function)(signal, information, context);
            } else {
                std::mem::transmute::<*const (), Plain>(function)(signal);
            }
        }
    }
}
