//! Execution times of kernels, measured by an event before and an event after each launch. Launches captured
//! into a graph are not timed, nor are those that the program makes with the driver API.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::OnceLock;

use cuda_driver::types::{CUevent, CUstream};
use cuda_driver::{TimedLaunch, functions as cu, in_child};
use parking_lot::Mutex;

use crate::context::Context;
use crate::errors::{Result, SUCCESS};
use crate::types::Dim3;

/// A callback that receives each timed launch, on any thread.
pub type LaunchObserver = Box<dyn Fn(TimedLaunch) + Send + Sync>;

static OBSERVER: OnceLock<LaunchObserver> = OnceLock::new();

/// Launches whose times have not been reported yet.
static PENDING: Mutex<Vec<PendingLaunch>> = Mutex::new(Vec::new());

/// The number of pending launches at which finished ones are reported. A crash loses all unreported launches,
/// so this bounds the loss.
const REPORT_THRESHOLD: usize = 64;

/// Times every later launch and passes it to `observer` once it has finished. Only the first call has an
/// effect.
pub fn time_launches(observer: LaunchObserver) {
    let _ = OBSERVER.set(observer);
}

/// Registers an exit handler that reports the last launches. It runs before the driver's own, because the
/// driver is already initialized.
#[cfg(unix)]
fn report_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn at_exit() {
        report(ReportScope::All);
    }
    ONCE.call_once(|| {
        // SAFETY: `at_exit` lives as long as the program. If registration fails, the last launches are not
        // reported.
        unsafe { libc::atexit(at_exit) };
    });
}

#[cfg(not(unix))]
fn report_at_exit() {}

/// A launch whose time has not been reported yet.
struct PendingLaunch {
    launch: TimedLaunch,
    context: Context,
    events: [Event; 2],
}

/// An owned event, destroyed on drop.
struct Event(CUevent);

// SAFETY: an event handle is not tied to a thread; the driver accepts it from any of them.
unsafe impl Send for Event {}

impl Event {
    /// Records a new event in a stream. Returns `None` if the driver fails.
    fn record(stream: CUstream) -> Option<Self> {
        let mut event = null_mut();
        // SAFETY: `event` is writable; the driver validates `stream`.
        unsafe {
            if cu::cuEventCreate(&mut event, 0) != SUCCESS {
                return None;
            }
            let event = Self(event);
            (cu::cuEventRecord(event.0, stream) == SUCCESS).then_some(event)
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: this value owns the event. If its context was destroyed, the driver rejects the handle.
        unsafe { cu::cuEventDestroy_v2(self.0) };
    }
}

/// Makes a launch, and times it if an observer is set. Returns the driver's result. `kernel` returns the
/// kernel's name in the device code and the context.
pub fn run_timed(
    kernel: impl FnOnce() -> Result<(String, Context)>,
    (grid, block, stream): (Dim3, Dim3, CUstream),
    launch: impl FnOnce() -> c_int,
) -> c_int {
    if OBSERVER.get().is_none() || !is_not_capturing(stream) {
        return launch();
    }
    let before = Event::record(stream);
    let result = launch();
    if result == SUCCESS
        && let Some(before) = before
        && let Some(after) = Event::record(stream)
        && let Ok((kernel, context)) = kernel()
    {
        report_at_exit();
        let launch = TimedLaunch {
            kernel,
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            milliseconds: 0.0,
        };
        let events = [before, after];
        let mut launches = PENDING.lock();
        launches.push(PendingLaunch {
            launch,
            context,
            events,
        });
        let report_due = launches.len() >= REPORT_THRESHOLD;
        drop(launches);
        if report_due {
            report(ReportScope::Finished);
        }
    }
    result
}

/// Returns true if work put into the stream is executed rather than captured into a graph.
fn is_not_capturing(stream: CUstream) -> bool {
    const NONE: c_int = 0;
    let mut capturing = NONE;
    // SAFETY: `capturing` is writable; the driver validates `stream`.
    let result = unsafe { cu::cuStreamIsCapturing(stream, &mut capturing) };
    result == SUCCESS && capturing == NONE
}

/// The launches to report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReportScope {
    /// Finished launches.
    Finished,
    /// All launches; waits for those still running.
    All,
    /// All launches of a context that is about to be destroyed; waits for those still running.
    Context(Context),
}

/// Reports launches in the order in which they were made.
pub fn report(scope: ReportScope) {
    let Some(observer) = OBSERVER.get() else {
        return;
    };
    // The pending launches belong to the parent.
    if in_child() {
        return;
    }
    // If the program is capturing in this thread, the stricter modes forbid event queries.
    const RELAXED: c_int = 2;
    let mut mode = RELAXED;
    // SAFETY: `mode` is readable and writable.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
    PENDING
        .lock()
        .retain_mut(|launch| match launch.poll(scope) {
            Outcome::Pending => true,
            Outcome::Failed => false,
            Outcome::Timed => {
                observer(launch.launch.clone());
                false
            }
        });
    // SAFETY: `mode` now holds the program's mode, which this restores.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
}

/// The state of a pending launch.
enum Outcome {
    Timed,
    Pending,
    /// A fault ended the launch or its context.
    Failed,
}

impl PendingLaunch {
    fn poll(&mut self, scope: ReportScope) -> Outcome {
        const NOT_READY: c_int = 600;
        let [before, after] = &self.events;
        // SAFETY: this value owns both events, and `milliseconds` is writable.
        unsafe {
            let status = match scope {
                ReportScope::Finished => cu::cuEventQuery(after.0),
                ReportScope::Context(context) if context != self.context => {
                    return Outcome::Pending;
                }
                ReportScope::All | ReportScope::Context(_) => cu::cuEventSynchronize(after.0),
            };
            match status {
                NOT_READY => return Outcome::Pending,
                SUCCESS => {}
                _ => return Outcome::Failed,
            }
            let mut milliseconds = 0.0;
            if cu::cuEventElapsedTime(&mut milliseconds, before.0, after.0) != SUCCESS {
                return Outcome::Failed;
            }
            self.launch.milliseconds = milliseconds.into();
            Outcome::Timed
        }
    }
}
