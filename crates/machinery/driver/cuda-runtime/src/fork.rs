//! Detection of child processes created by `fork`. A child has its parent's memory but none of its threads, so
//! it can use neither a device that the parent has initialized nor the simulator's threads.

use std::sync::atomic::{AtomicBool, Ordering};

/// True in the children of a process that had initialized a device.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Returns true if this process was forked by one that had already initialized the runtime.
pub fn is_forked_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// Registers the fork handler that sets the flag in children. Called once.
pub fn register_handler() {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            IN_CHILD.store(true, Ordering::Relaxed);
        }
        // SAFETY: `in_child` lives as long as the program and only stores to an atomic, which is
        // async-signal-safe. If registration fails, calls in children fail in another way.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}
