//! The sanitizer's checks: which are active, and their findings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::check::{Checks, Finding};
use cuda_sim::driver::Driver;

use super::queue::{self, WaitTarget};
use super::telemetry::{Event, emit};
use super::{SIMULATOR, host_access, lock_driver_drained, lock_mutex, try_lock_driver};
use crate::fork;
use crate::log::{catch_panic, warn};

/// The sanitizer's settings and results.
pub struct Sanitizer {
    /// The active checks.
    active: Mutex<Checks>,
    /// Findings that have not been taken yet.
    findings: Mutex<Vec<Finding>>,
    /// True if findings are printed on stderr, which `CUDA_SIM_CHECK` enables.
    to_stderr: AtomicBool,
}

impl Sanitizer {
    pub const fn new() -> Self {
        Self {
            active: Mutex::new(Checks::NONE),
            findings: Mutex::new(Vec::new()),
            to_stderr: AtomicBool::new(false),
        }
    }
}

/// Maximum number of findings per launch printed on stderr.
const MAX_TO_STDERR: usize = 20;

/// Enables checks of what runs on the simulator; see [`cuda_sim::check`]. Launches take several times as long.
/// [`Checks::init`] covers only memory allocated after this call. Has no effect on a GPU.
pub fn check(checks: Checks) {
    queue::wait(WaitTarget::All);
    host_access::report_page_accesses();
    host_access::set_enabled(checks.host);
    *lock_mutex(&SIMULATOR.sanitizer.active) = checks;
    if let Ok(mut driver) = lock_driver_drained() {
        driver.set_checks(checks);
    }
}

/// Returns the active checks.
pub fn active_checks() -> Checks {
    *lock_mutex(&SIMULATOR.sanitizer.active)
}

/// Returns the findings since the last call: each error of a launch once, and memory that was still allocated
/// when its context was destroyed.
pub fn take_findings() -> Vec<Finding> {
    queue::wait(WaitTarget::All);
    host_access::report_page_accesses();
    std::mem::take(&mut lock_mutex(&SIMULATOR.sanitizer.findings))
}

/// Enables the checks that `CUDA_SIM_CHECK` names, and prints their findings on stderr.
pub fn enable_printed(checks: Checks) {
    SIMULATOR.sanitizer.to_stderr.store(true, Ordering::Relaxed);
    host_access::set_enabled(checks.host);
    *lock_mutex(&SIMULATOR.sanitizer.active) = checks;
}

/// Stops printing findings; the observer and [`take_findings`] still get them.
pub fn silence_findings() {
    SIMULATOR
        .sanitizer
        .to_stderr
        .store(false, Ordering::Relaxed);
}

/// Stores findings of a launch or of a destroyed context, and prints them if printing is enabled, except
/// `printed`, which is on stderr already.
pub fn report(findings: Vec<Finding>, printed: Option<&Finding>) {
    if SIMULATOR.sanitizer.to_stderr.load(Ordering::Relaxed) {
        let unprinted = findings.iter().filter(|&finding| Some(finding) != printed);
        let unprinted: Vec<&Finding> = unprinted.collect();
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
        emit(Event::Findings(&findings));
    }
    lock_mutex(&SIMULATOR.sanitizer.findings).extend(findings);
}

/// Reports allocations that were leaked when a context was destroyed, if leaks are checked. Unlocks the
/// driver first, so that no other thread waits for the report.
pub fn report_leaks(mut driver: MutexGuard<Driver>) {
    let leaks = driver.take_leaks();
    drop(driver);
    report(leaks, None);
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
            report(leaks, None);
        }
        Ok(())
    });
}
