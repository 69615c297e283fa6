//! Launches that are to end because somebody asks for it, from another thread or from a signal's handler.

use std::sync::atomic::{AtomicBool, Ordering};

/// Launches of a process run one at a time: there is one word for all.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Ends the launch that is under way. A signal's handler may call it.
pub fn interrupt() {
    ASKED.store(true, Ordering::Relaxed);
}

/// What was asked for before does not mean the launch that begins now.
pub fn forget_interrupts() {
    ASKED.store(false, Ordering::Relaxed);
}

/// Whether the launch under way is to end.
pub(super) fn is_requested() -> bool {
    ASKED.load(Ordering::Relaxed)
}
