//! Observation of launches beyond the driver API: events, reports of launches, and the sanitizer's findings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use cuda_sim::check::{Checks, Finding};
use cuda_sim::driver::Driver;
use cuda_sim::exec::Fault;
use cuda_sim::launch::{LaunchRecord, LaunchReport};

use super::options::set_initial_checks;
use super::queue::{self, WaitTarget};
use super::{SIMULATOR, host_access, lock_mutex, try_lock_driver};
use crate::fork;
use crate::log::{catch_panic, warn};

/// The receivers of events and reports, and the findings.
pub struct Telemetry {
    /// The receiver of events, if one is set.
    observer: OnceLock<Observer>,
    /// The live recorders.
    recorders: Mutex<Vec<Weak<Reports>>>,
    /// Findings that have not been taken yet.
    findings: Mutex<Vec<Finding>>,
    /// True if findings are printed on stderr, which `CUDA_SIM_CHECK` enables.
    to_stderr: AtomicBool,
}

impl Telemetry {
    pub const fn new() -> Self {
        Self {
            observer: OnceLock::new(),
            recorders: Mutex::new(Vec::new()),
            findings: Mutex::new(Vec::new()),
            to_stderr: AtomicBool::new(false),
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

/// The reports of a [`LaunchRecorder`].
type Reports = Mutex<Vec<LaunchReport>>;

/// A recorder of launches: it receives the report of every launch that the simulator runs while the recorder
/// lives, whichever thread made the launch. On a GPU it receives none.
#[derive(Debug)]
pub struct LaunchRecorder(Arc<Reports>);

/// Starts recording launches.
pub fn record_launches() -> LaunchRecorder {
    queue::wait(WaitTarget::All);
    let recorder = LaunchRecorder(Arc::default());
    lock_mutex(&SIMULATOR.telemetry.recorders).push(Arc::downgrade(&recorder.0));
    recorder
}

impl LaunchRecorder {
    /// Returns the record of the last launch; `None` if it faulted, and if there has been none since recording
    /// started or since the reports were taken.
    pub fn last(&self) -> Option<LaunchRecord> {
        queue::wait(WaitTarget::All);
        lock_mutex(&self.0).last()?.result.clone().ok()
    }

    /// Returns the reports of the launches since the last call, in order, including launches that faulted.
    pub fn take(&self) -> Vec<LaunchReport> {
        queue::wait(WaitTarget::All);
        std::mem::take(&mut lock_mutex(&self.0))
    }
}

/// Hands the report of a launch to all recorders.
pub fn record(report: LaunchReport) {
    let recorders = &mut *lock_mutex(&SIMULATOR.telemetry.recorders);
    recorders.retain(|recorder| recorder.strong_count() > 0);
    let mut live = recorders.iter().filter_map(Weak::upgrade);
    // Most launches have at most one recorder: only others need a copy.
    let Some(first) = live.next() else { return };
    for other in live {
        lock_mutex(&other).push(report.clone());
    }
    lock_mutex(&first).push(report);
}

/// Maximum number of findings per launch printed on stderr.
const MAX_TO_STDERR: usize = 20;

/// Enables the checks that `CUDA_SIM_CHECK` names, and prints their findings on stderr.
pub fn enable_printed(checks: Checks) {
    SIMULATOR.telemetry.to_stderr.store(true, Ordering::Relaxed);
    set_initial_checks(checks);
}

/// Stops printing findings; the observer and [`take_findings`] still get them.
pub fn silence_findings() {
    SIMULATOR
        .telemetry
        .to_stderr
        .store(false, Ordering::Relaxed);
}

/// Returns the findings since the last call: each error of a launch once, and memory that was still allocated
/// when its context was destroyed.
pub fn take_findings() -> Vec<Finding> {
    queue::wait(WaitTarget::All);
    host_access::report_page_accesses();
    std::mem::take(&mut lock_mutex(&SIMULATOR.telemetry.findings))
}

/// Stores findings of a launch or of a destroyed context, and prints them if printing is enabled, except
/// `printed`, which is on stderr already.
pub fn report_findings(findings: &[Finding], printed: Option<&Finding>) {
    if SIMULATOR.telemetry.to_stderr.load(Ordering::Relaxed) {
        let unprinted: Vec<&Finding> = findings
            .iter()
            .filter(|&finding| Some(finding) != printed)
            .collect();
        for finding in unprinted.iter().take(MAX_TO_STDERR) {
            warn(format_args!("{finding}"));
        }
        if unprinted.len() > MAX_TO_STDERR {
            warn(format_args!(
                "and {} more findings",
                unprinted.len() - MAX_TO_STDERR
            ));
        }
    }
    if !findings.is_empty() {
        emit(Event::Findings(findings));
        lock_mutex(&SIMULATOR.telemetry.findings).extend_from_slice(findings);
    }
}

/// Reports allocations that were leaked when a context was destroyed, if leaks are checked. Unlocks the
/// driver first, so that no other thread waits for the report.
pub fn report_leaks(mut driver: MutexGuard<Driver>) {
    let leaks = driver.take_leaks();
    drop(driver);
    report_findings(&leaks, None);
}

/// Reports leaks at program exit: everything that is still allocated. Does nothing if the program exits
/// during a call, as on Ctrl-C, because that call holds the driver's lock; and nothing in a forked child,
/// because its parent reports.
pub extern "C" fn at_exit() {
    catch_panic("exit", || {
        let driver_is_busy = try_lock_driver().is_none() && !queue::in_background();
        if fork::in_child() || driver_is_busy {
            return Ok(());
        }
        queue::wait(WaitTarget::All);
        host_access::report_page_accesses();
        if let Some(mut driver) = try_lock_driver() {
            let leaks = driver.take_leaks_at_exit();
            drop(driver);
            report_findings(&leaks, None);
        }
        Ok(())
    });
}
