//! Detection of child processes that `fork` creates. A child has a copy of the memory but none of the
//! threads, so every call of the simulator returns `CUDA_ERROR_NOT_INITIALIZED` there, as NVIDIA's driver
//! does. A child that was forked before `cuInit` may call `cuInit` itself.

use std::sync::atomic::{AtomicBool, Ordering};

/// True in a forked child. Its own static, because the fork handler, which is registered with the C library,
/// takes no argument.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Returns true if this process was forked from the one that started the simulator.
pub fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// Registers a fork handler so that `in_child` works.
#[cfg(unix)]
pub fn install_handler() {
    use std::ffi::c_int;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    extern "C" fn after_fork() {
        IN_CHILD.store(true, Ordering::Relaxed);
    }

    // SAFETY: `pthread_atfork` has this signature in the C library of every Unix, and the handler only stores
    // to an atomic, which is allowed after `fork`. If registration fails, a child that calls the simulator
    // may deadlock.
    unsafe { pthread_atfork(None, None, Some(after_fork)) };
}

/// Does nothing: there is no `fork` on this system.
#[cfg(not(unix))]
pub fn install_handler() {}
