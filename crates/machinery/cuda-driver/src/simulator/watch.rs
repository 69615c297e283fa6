//! What the simulator tells of its launches besides what the driver API asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_sim::exec::{Fault, Progress, Watch};
use cuda_sim::launch::LaunchRecord;

/// Shows the launch under way. It takes no part in the machine's lock, which a launch holds.
pub static WATCH: Watch = Watch::new();

static LAST: Mutex<Option<LaunchRecord>> = Mutex::new(None);

static KEPT: Mutex<Option<Vec<LaunchRecord>>> = Mutex::new(None);

static FAULT: Mutex<Option<Fault>> = Mutex::new(None);

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

/// From now on every launch is kept until [`take_launches`] asks for it.
pub fn keep_launches() {
    lock(&KEPT).get_or_insert_default();
}

/// The launches on the simulator since this was last asked, or since [`keep_launches`], in order;
/// those that faulted are not among them. None where launches are not kept.
pub fn take_launches() -> Vec<LaunchRecord> {
    lock(&KEPT).as_mut().map(std::mem::take).unwrap_or_default()
}

/// What ended the last launch on the simulator that did not run through, since this was last asked.
pub fn take_fault() -> Option<Fault> {
    lock(&FAULT).take()
}

/// A launch is over, and did this; or else it faulted.
pub fn finished(record: Option<LaunchRecord>, fault: Option<&Fault>) {
    if let (Some(kept), Some(record)) = (lock(&KEPT).as_mut(), &record) {
        kept.push(record.clone());
    }
    if let Some(fault) = fault {
        *lock(&FAULT) = Some(fault.clone());
    }
    *last() = record;
}

fn last() -> MutexGuard<'static, Option<LaunchRecord>> {
    lock(&LAST)
}

fn lock<T>(what: &'static Mutex<T>) -> MutexGuard<'static, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
