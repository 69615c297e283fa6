//! The receivers of events and of launch reports, and the sanitizer's findings.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use cuda_sim::check::{Finding, Reason, Severity};
use cuda_sim::exec::Fault;
use cuda_sim::launch::{LaunchRecord, LaunchReport};

use super::lock;
use crate::status::{Code, warn};

/// The receivers of events and reports, and the findings.
pub struct Telemetry {
    /// The receiver of events, if one is set.
    observer: OnceLock<Observer>,
    /// The live recorders.
    recorders: Mutex<Vec<Weak<Reports>>>,
    /// Findings that have not been taken yet.
    findings: Mutex<Vec<Finding>>,
    /// The printed findings of what a GPU does not detect.
    undetected: Mutex<Vec<Finding>>,
    /// True if findings are printed on stderr.
    to_stderr: AtomicBool,
    /// True if the observer reports all findings at the program's end, including those that ended a launch.
    deferred: AtomicBool,
}

/// A function that receives each event synchronously. It must not call the simulator.
pub type Observer = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// An event of the simulator.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A launch completed without a fault.
    Launched(&'a LaunchRecord),
    /// A library's function completed without a fault, in this estimated number of seconds.
    LibraryCalled(&'a str, f64),
    /// A launch, or a library's function, ended with a fault.
    Faulted(&'a Fault),
    /// Checks reported findings.
    Findings(&'a [Finding]),
    /// A module was rejected; the string is the reason.
    ModuleRejected(&'a str),
    /// The program called a function that the simulator does not implement; emitted once per function.
    NotSimulated(&'a str),
    /// A call returned an error.
    CallFailed(&'a FailedCall),
    /// The program fetched an error with this code.
    ErrorFetched(Code),
}

/// A call that returned an error.
#[derive(Debug)]
pub struct FailedCall {
    /// The name of the C function.
    pub function: &'static str,
    pub code: Code,
    /// The error's C name and meaning, unless the code is unknown.
    pub error: Option<(&'static CStr, &'static CStr)>,
    /// The symbol of the kernel that the call should launch, if the runtime named it.
    pub kernel: Option<String>,
    /// The reason in terms of the arguments, where it is known.
    pub reason: Option<Reason>,
}

/// The reports of a recorder.
pub type Reports = Mutex<Vec<LaunchReport>>;

/// Maximum number of findings per launch printed on stderr.
const MAX_TO_STDERR: usize = 20;

impl Telemetry {
    pub const fn new() -> Self {
        Self {
            observer: OnceLock::new(),
            recorders: Mutex::new(Vec::new()),
            findings: Mutex::new(Vec::new()),
            undetected: Mutex::new(Vec::new()),
            to_stderr: AtomicBool::new(false),
            deferred: AtomicBool::new(false),
        }
    }

    /// Sets the observer of events. Only the first observer counts.
    pub fn set_observer(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    /// Sends an event to the observer, if one is set.
    pub fn emit(&self, event: Event<'_>) {
        if let Some(observer) = self.observer.get() {
            observer(event);
        }
    }

    /// Adds a recorder, which receives the reports of later launches as long as it lives.
    pub fn add_recorder(&self) -> Arc<Reports> {
        let recorder = Arc::default();
        lock(&self.recorders).push(Arc::downgrade(&recorder));
        recorder
    }

    /// Hands the report of a launch to all recorders.
    pub fn record(&self, report: LaunchReport) {
        let recorders = &mut *lock(&self.recorders);
        recorders.retain(|recorder| recorder.strong_count() > 0);
        let mut live = recorders.iter().filter_map(Weak::upgrade);
        // Most launches have at most one recorder: only others need a copy.
        let Some(first) = live.next() else { return };
        for other in live {
            lock(&other).push(report.clone());
        }
        lock(&first).push(report);
    }

    /// Starts to print findings on stderr. The observer and [`Telemetry::take_findings`] get them too.
    pub fn print_findings(&self) {
        self.to_stderr.store(true, Ordering::Relaxed);
    }

    /// Stops printing findings on stderr, and faults that are among them: the observer reports each once.
    pub fn defer_findings(&self) {
        self.to_stderr.store(false, Ordering::Relaxed);
        self.deferred.store(true, Ordering::Relaxed);
    }

    /// Prints a fault, unless it is among the findings (`is_found`) and the observer will report those.
    pub fn print_fault(&self, fault: &Fault, is_found: bool) {
        if !(is_found && self.deferred.load(Ordering::Relaxed)) {
            warn(format_args!("{fault}"));
        }
    }

    /// Returns the findings since the last call.
    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut lock(&self.findings))
    }

    /// Stores findings of a launch or of a destroyed context, and prints them if printing is enabled, except
    /// `printed`, which is on stderr already. What a GPU does not detect is printed even if no check requested it.
    pub fn report_findings(&self, findings: &[Finding], printed: Option<&Finding>) {
        let (unrequested, requested): (Vec<&Finding>, Vec<&Finding>) =
            (findings.iter()).partition(|&finding| is_unrequested(finding));
        self.warn_once(&unrequested);
        if self.to_stderr.load(Ordering::Relaxed) {
            let mut unprinted = requested;
            unprinted.retain(|&finding| Some(finding) != printed);
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
            self.emit(Event::Findings(findings));
            lock(&self.findings).extend_from_slice(findings);
        }
    }

    /// Prints findings, those of one bug once in the process.
    fn warn_once(&self, findings: &[&Finding]) {
        let mut printed = lock(&self.undetected);
        for &finding in findings {
            let is_new = !printed.iter().any(|known| known.is_same_bug(finding));
            if is_new && printed.len() < MAX_TO_STDERR {
                warn(format_args!("{finding}"));
                printed.push(finding.clone());
            }
        }
    }
}

/// Returns true if a GPU does not detect what was found and the check that covers it is off: it is then a warning.
fn is_unrequested(finding: &Finding) -> bool {
    finding.is_undetected() && finding.severity == Severity::Warning
}
