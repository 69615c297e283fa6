//! What a program can ask of the simulator's launches that the driver API has no function for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use cuda_sim::check::Finding;
use cuda_sim::driver::Tracing;
use cuda_sim::exec::{Fault, Progress, Traced, Watch};
use cuda_sim::launch::LaunchRecord;

use super::queue::{self, Awaited};
use super::{lock, machine};

/// Shows how far the launch under way is. It can be read without the machine's lock, which the
/// launch holds.
pub static WATCH: Watch = Watch::new();

/// What the last launch did, until it is taken.
static LAST: Mutex<Option<LaunchRecord>> = Mutex::new(None);

/// What launches did, where they are kept, since they were last taken.
static KEPT: Mutex<Option<Vec<LaunchRecord>>> = Mutex::new(None);

/// Accesses of launches, with the kernel's name, since they were last taken.
static TRACES: Mutex<Vec<(String, Vec<Traced>)>> = Mutex::new(Vec::new());

/// The last fault that was not taken.
static FAULT: Mutex<Option<Fault>> = Mutex::new(None);

/// Whether launches count everything, line by line.
static PROFILE: AtomicBool = AtomicBool::new(false);

/// Who is told of launches.
static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Is told of what happens on the simulator, at once, and must not call it.
pub type Observer = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// What happens on the simulator.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A launch has ended well.
    Launched(&'a LaunchRecord),
    /// A fault has ended a launch.
    Faulted(&'a Fault),
    /// Checks have found mistakes.
    Found(&'a [Finding]),
    /// A module was refused, and why.
    Refused(&'a str),
    /// A function was called that the simulator does not do; each is told once.
    NotSimulated(&'a str),
}

/// From now on `observer` is told of every launch as soon as it is over: a program that keeps what it is
/// told has it even where it crashes later. Only the first observer counts.
pub fn observe(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

/// Tells whoever observes.
pub fn tell(event: Event<'_>) {
    if let Some(observer) = OBSERVER.get() {
        observer(event);
    }
}

/// How far the launch is that is under way on the simulator now, whatever thread it is from; `None`
/// when there is none and on a GPU.
pub fn progress() -> Option<Progress> {
    WATCH.progress()
}

/// Sets whether launches on the simulator count everything from now on, line by line. They take up to
/// twice as long. On a GPU it changes nothing.
pub fn profile(on: bool) {
    queue::wait(Awaited::All);
    PROFILE.store(on, Ordering::Relaxed);
}

/// Whether [`profile`] is on.
pub fn profiling() -> bool {
    PROFILE.load(Ordering::Relaxed)
}

/// Sets which accesses launches on the simulator tell of from now on: the addresses of a warp, and what they
/// come to. They take several times as long. On a GPU it changes nothing.
pub fn trace(tracing: Option<Tracing>) {
    queue::wait(Awaited::All);
    if let Ok(mut driver) = machine() {
        driver.trace(tracing);
    }
}

/// Those of the launches since this was last asked, in order, each with its kernel's name; of launches that
/// faulted, and of those before [`trace`], there are none.
pub fn take_traces() -> Vec<(String, Vec<Traced>)> {
    queue::wait(Awaited::All);
    std::mem::take(&mut lock(&TRACES))
}

/// Keeps what a launch told of its accesses.
pub fn traced(kernel: &str, trace: Vec<Traced>) {
    if !trace.is_empty() {
        lock(&TRACES).push((kernel.to_owned(), trace));
    }
}

/// What the last launch on the simulator did, whatever thread it was from; `None` before any,
/// after one that faulted and on a GPU.
pub fn last_launch() -> Option<LaunchRecord> {
    queue::wait(Awaited::All);
    lock(&LAST).clone()
}

/// [`last_launch`], which is forgotten then: until the next launch it is `None`.
pub fn take_last_launch() -> Option<LaunchRecord> {
    queue::wait(Awaited::All);
    lock(&LAST).take()
}

/// From now on every launch is kept until [`take_launches`] asks for it.
pub fn keep_launches() {
    queue::wait(Awaited::All);
    lock(&KEPT).get_or_insert_default();
}

/// The launches on the simulator since this was last asked, or since [`keep_launches`], in order;
/// those that faulted are not among them. None where launches are not kept.
pub fn take_launches() -> Vec<LaunchRecord> {
    queue::wait(Awaited::All);
    lock(&KEPT).as_mut().map(std::mem::take).unwrap_or_default()
}

/// The fault that ended the last launch on the simulator that did not run to its end; `None` if there
/// has been none since this was last asked.
pub fn take_fault() -> Option<Fault> {
    queue::wait(Awaited::All);
    lock(&FAULT).take()
}

/// Keeps what a launch did that is over, or the fault that ended it.
pub fn finished(record: Option<LaunchRecord>, fault: Option<&Fault>) {
    if let Some(record) = &record {
        tell(Event::Launched(record));
    }
    if let Some(fault) = fault {
        tell(Event::Faulted(fault));
    }
    if let (Some(kept), Some(record)) = (lock(&KEPT).as_mut(), &record) {
        kept.push(record.clone());
    }
    if let Some(fault) = fault {
        *lock(&FAULT) = Some(fault.clone());
    }
    *lock(&LAST) = record;
}
