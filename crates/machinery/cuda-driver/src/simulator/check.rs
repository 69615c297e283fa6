//! The sanitizer's checks: which are active, and their findings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::check::{Checks, Finding};
use cuda_sim::driver::Driver;

use super::queue::{self, Awaited};
use super::watch::{Event, tell};
use super::{driver, host, idle_driver, lock};
use crate::fork;
use crate::report::{guarded, say};

/// The active checks.
static ON: Mutex<Checks> = Mutex::new(Checks::NONE);

/// Findings that have not been taken yet.
static FOUND: Mutex<Vec<Finding>> = Mutex::new(Vec::new());

/// True if findings are printed on stderr, which `CUDA_SIM_CHECK` enables.
static TO_STDERR: AtomicBool = AtomicBool::new(false);

/// Maximum number of findings per launch printed on stderr.
const MAX_TO_STDERR: usize = 20;

/// Enables checks of what runs on the simulator; see [`cuda_sim::check`]. Launches take several times as long.
/// [`Checks::init`] covers only memory allocated after this call. Has no effect on a GPU.
pub fn check(checks: Checks) {
    queue::wait(Awaited::All);
    host::collect();
    host::set(checks.host);
    *lock(&ON) = checks;
    if let Ok(mut driver) = driver() {
        driver.set_checks(checks);
    }
}

/// Returns the active checks.
pub fn checking() -> Checks {
    *lock(&ON)
}

/// Returns the findings since the last call: each error of a launch once, and memory that was still allocated
/// when its
/// context was destroyed.
pub fn take_findings() -> Vec<Finding> {
    queue::wait(Awaited::All);
    host::collect();
    std::mem::take(&mut lock(&FOUND))
}

/// Enables the checks that `CUDA_SIM_CHECK` names, and prints their findings on stderr.
pub fn check_aloud(checks: Checks) {
    TO_STDERR.store(true, Ordering::Relaxed);
    host::set(checks.host);
    *lock(&ON) = checks;
}

/// Stops printing findings; the observer and [`take_findings`] still get them.
pub fn check_quietly() {
    TO_STDERR.store(false, Ordering::Relaxed);
}

/// Stores findings of a launch or of a destroyed context, and prints them if printing is enabled, except
/// `printed`, which
/// is on stderr already.
pub fn report(findings: Vec<Finding>, said: Option<&Finding>) {
    if TO_STDERR.load(Ordering::Relaxed) {
        let new = findings.iter().filter(|&finding| Some(finding) != said);
        let new: Vec<&Finding> = new.collect();
        for finding in new.iter().take(MAX_TO_STDERR) {
            say(format_args!("{finding}"));
        }
        if new.len() > MAX_TO_STDERR {
            say(format_args!(
                "and {} more findings",
                new.len() - MAX_TO_STDERR
            ));
        }
    }
    if !findings.is_empty() {
        tell(Event::Found(&findings));
    }
    lock(&FOUND).extend(findings);
}

/// Reports allocations that were leaked when a context was destroyed, if leaks are checked. Unlocks the
/// driver first, so
/// that no other thread waits for the report.
pub fn report_leaks(mut driver: MutexGuard<Driver>) {
    let leaks = driver.take_leaks();
    drop(driver);
    report(leaks, None);
}

/// Reports leaks at program exit: everything that is still allocated. Does nothing if the program exits
/// during a call, as
/// on Ctrl-C, because that call holds the driver's lock; and nothing in a forked child, because its parent
/// reports.
pub extern "C" fn at_exit() {
    guarded("exit", || {
        let others = idle_driver().is_none() && !queue::in_background();
        if fork::in_child() || others {
            return Ok(());
        }
        queue::wait(Awaited::All);
        host::collect();
        if let Some(mut driver) = idle_driver() {
            let leaks = driver.take_leaks_at_exit();
            drop(driver);
            report(leaks, None);
        }
        Ok(())
    });
}
