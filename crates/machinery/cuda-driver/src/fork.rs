//! Children that `fork` makes of a program on the simulator. A child has a copy of the memory and none of
//! the threads: as NVIDIA's driver does, the simulator answers `CUDA_ERROR_NOT_INITIALIZED` there. A child that
//! is made before `cuInit` may call it itself.

use std::sync::atomic::{AtomicBool, Ordering};

static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a child of the one that the simulator was switched on in.
pub fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// From now on children know that they are.
#[cfg(unix)]
pub fn watch() {
    use std::ffi::c_int;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    extern "C" fn after_fork() {
        IN_CHILD.store(true, Ordering::Relaxed);
    }

    // SAFETY: it is in C's library on every Unix, and the handler does what a child with copies of locks may. If
    // C has no room for it, a child that calls the simulator may wait for ever.
    unsafe { pthread_atfork(None, None, Some(after_fork)) };
}

/// There is no `fork`.
#[cfg(not(unix))]
pub fn watch() {}
