//! What the simulator tells of its launches besides what the driver API asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_sim::exec::{Progress, Watch};
use cuda_sim::profile::LaunchRecord;

/// Shows the launch under way. It takes no part in the machine's lock, which a launch holds.
pub static WATCH: Watch = Watch::new();

static LAST: Mutex<Option<LaunchRecord>> = Mutex::new(None);

static PROFILE: AtomicBool = AtomicBool::new(false);

/// The simulated launch under way now, from whatever thread; `None` when there is none and on a
/// GPU.
pub fn progress() -> Option<Progress> {
    WATCH.progress()
}

/// Whether launches on the simulator count everything from now on, line by line. They take up to
/// twice as long. A GPU takes no notice.
pub fn profile(on: bool) {
    PROFILE.store(on, Ordering::Relaxed);
}

/// Whether [`profile`] is on.
pub fn profiling() -> bool {
    PROFILE.load(Ordering::Relaxed)
}

/// What the last launch on the simulator did, whatever thread it was from; `None` before any,
/// after one that faulted and on a GPU.
pub fn last_launch() -> Option<LaunchRecord> {
    last().clone()
}

/// [`last_launch`], which is forgotten: until the next launch there is none.
pub fn take_last_launch() -> Option<LaunchRecord> {
    last().take()
}

/// A launch is over, and did this.
pub fn finished(record: Option<LaunchRecord>) {
    *last() = record;
}

fn last() -> MutexGuard<'static, Option<LaunchRecord>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}
