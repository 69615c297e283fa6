//! Observation of launches beyond the driver API: records, progress, faults and access traces.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use cuda_sim::check::Finding;
use cuda_sim::driver::Tracing;
use cuda_sim::exec::{Fault, Progress, Traced, Watch};
use cuda_sim::launch::LaunchRecord;

use super::queue::{self, WaitTarget};
use super::{SIMULATOR, lock_driver, lock_mutex};

/// The observations of launches.
pub struct Telemetry {
    /// The progress of the running launch. Readable without the driver's lock, which the launch holds.
    pub watch: Watch,
    /// The record of the last launch, until it is taken.
    last: Mutex<Option<LaunchRecord>>,
    /// The records of launches since they were last taken; `None` if they are not recorded.
    recorded: Mutex<Option<Vec<LaunchRecord>>>,
    /// The access traces of launches with kernel names, since they were last taken.
    traces: Mutex<Vec<(String, Vec<Traced>)>>,
    /// The last fault, until it is taken.
    fault: Mutex<Option<Fault>>,
    /// True if launches collect all counters, per source line.
    profile: AtomicBool,
    /// The receiver of events, if one is set.
    observer: OnceLock<Observer>,
}

impl Telemetry {
    pub const fn new() -> Self {
        Self {
            watch: Watch::new(),
            last: Mutex::new(None),
            recorded: Mutex::new(None),
            traces: Mutex::new(Vec::new()),
            fault: Mutex::new(None),
            profile: AtomicBool::new(false),
            observer: OnceLock::new(),
        }
    }
}

/// A function that receives each event synchronously. It must not call the simulator.
pub type Observer = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// An event of the simulator.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A launch completed without a fault.
    Launched(&'a LaunchRecord),
    /// A launch ended with a fault.
    Faulted(&'a Fault),
    /// Checks reported findings.
    Findings(&'a [Finding]),
    /// A module was rejected; the string is the reason.
    ModuleRejected(&'a str),
    /// The program called a function that the simulator does not implement; emitted once per function.
    NotSimulated(&'a str),
}

/// Sets the observer of events. It receives every launch as soon as the launch ends, so that a program can
/// save records even if it crashes later. Only the first observer counts.
pub fn set_observer(observer: Observer) {
    let _ = SIMULATOR.telemetry.observer.set(observer);
}

/// Sends an event to the observer, if one is set.
pub fn emit(event: Event<'_>) {
    if let Some(observer) = SIMULATOR.telemetry.observer.get() {
        observer(event);
    }
}

/// Returns the progress of the launch that is running on the simulator, whichever thread started it; `None`
/// if none is running, and on a GPU.
pub fn progress() -> Option<Progress> {
    SIMULATOR.telemetry.watch.progress()
}

/// Enables or disables profiling: later launches on the simulator collect all counters, per source line, and
/// take up to twice as long. Has no effect on a GPU.
pub fn profile(on: bool) {
    queue::wait(WaitTarget::All);
    SIMULATOR.telemetry.profile.store(on, Ordering::Relaxed);
}

/// Returns true if [`profile`] is on.
pub fn is_profiling() -> bool {
    SIMULATOR.telemetry.profile.load(Ordering::Relaxed)
}

/// Sets which accesses later launches on the simulator trace: the addresses of a warp and the resulting
/// requests. Tracing launches take several times as long. Has no effect on a GPU.
pub fn trace(tracing: Option<Tracing>) {
    queue::wait(WaitTarget::All);
    if let Ok(mut driver) = lock_driver() {
        driver.set_tracing(tracing);
    }
}

/// Returns the traces of the launches since the last call, in order, each with its kernel's name. Launches
/// that faulted or that ran before [`trace`] have none.
pub fn take_traces() -> Vec<(String, Vec<Traced>)> {
    queue::wait(WaitTarget::All);
    std::mem::take(&mut lock_mutex(&SIMULATOR.telemetry.traces))
}

/// Stores the access trace of a launch.
pub fn store_trace(kernel: &str, trace: Vec<Traced>) {
    if !trace.is_empty() {
        lock_mutex(&SIMULATOR.telemetry.traces).push((kernel.to_owned(), trace));
    }
}

/// Returns the record of the last launch on the simulator, whichever thread started it; `None` before any
/// launch, after one that faulted, and on a GPU.
pub fn last_launch() -> Option<LaunchRecord> {
    queue::wait(WaitTarget::All);
    lock_mutex(&SIMULATOR.telemetry.last).clone()
}

/// Returns [`last_launch`] and clears it: until the next launch it is `None`.
pub fn take_last_launch() -> Option<LaunchRecord> {
    queue::wait(WaitTarget::All);
    lock_mutex(&SIMULATOR.telemetry.last).take()
}

/// Starts recording: every launch is stored until [`take_launches`] takes it.
pub fn record_launches() {
    queue::wait(WaitTarget::All);
    lock_mutex(&SIMULATOR.telemetry.recorded).get_or_insert_default();
}

/// Returns the records of the launches on the simulator since the last call, or since [`record_launches`], in
/// order. Launches that faulted are not included. Returns an empty list if launches are not recorded.
pub fn take_launches() -> Vec<LaunchRecord> {
    queue::wait(WaitTarget::All);
    lock_mutex(&SIMULATOR.telemetry.recorded)
        .as_mut()
        .map(std::mem::take)
        .unwrap_or_default()
}

/// Returns the fault that ended the most recent faulting launch on the simulator; `None` if there has been
/// none since the last call.
pub fn take_fault() -> Option<Fault> {
    queue::wait(WaitTarget::All);
    lock_mutex(&SIMULATOR.telemetry.fault).take()
}

/// Stores the record of a completed launch or its fault, and emits the events.
pub fn store_result(record: Option<LaunchRecord>, fault: Option<&Fault>) {
    if let Some(record) = &record {
        emit(Event::Launched(record));
    }
    if let Some(fault) = fault {
        emit(Event::Faulted(fault));
    }
    if let (Some(records), Some(record)) =
        (lock_mutex(&SIMULATOR.telemetry.recorded).as_mut(), &record)
    {
        records.push(record.clone());
    }
    if let Some(fault) = fault {
        *lock_mutex(&SIMULATOR.telemetry.fault) = Some(fault.clone());
    }
    *lock_mutex(&SIMULATOR.telemetry.last) = record;
}
