//! What the simulator tells of its launches besides what the driver API asks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_sim::exec::{Progress, Watch};
use cuda_sim::profile::Counters;

/// Shows the launch under way. It takes no part in the machine's lock, which a launch holds.
pub static WATCH: Watch = Watch::new();

static LAST: Mutex<Option<Counters>> = Mutex::new(None);

/// The simulated launch under way now, from whatever thread; `None` when there is none and on a
/// GPU.
pub fn progress() -> Option<Progress> {
    WATCH.progress()
}

/// What the last launch on the simulator counted, whatever thread it was from; `None` before any,
/// after one that faulted and on a GPU.
pub fn counters() -> Option<Counters> {
    *last()
}

/// A launch is over, and counted this.
pub fn finished(counters: Option<Counters>) {
    *last() = counters;
}

fn last() -> MutexGuard<'static, Option<Counters>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}
