//! Interruption of launches, requested by another thread or a signal handler.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if the running launch should end. Launches of a process run one at a time, so one flag suffices.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Ends the running launch. Async-signal-safe.
pub fn interrupt() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Discards earlier requests, which must not affect a launch that starts now.
pub fn forget_interrupts() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Returns true if the running launch should end.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
