//! Children of `fork`. A child has the memory of its parent and none of its threads, so it cannot go on
//! with a device that the parent has begun to use, nor with the simulator's.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process is a child of one that had begun to use a device.
static CHILD: AtomicBool = AtomicBool::new(false);

/// Whether the runtime is of no use here, for this is a child of a process that had begun to use it.
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// From now on children know that they are some. It is called once.
pub fn watch() {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            CHILD.store(true, Ordering::Relaxed);
        }
        // SAFETY: the function given is there as long as the program, and does what may be done in a
        // child: it sets a flag. If there is no room for it, children fail in another way.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}
