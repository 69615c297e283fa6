//! Checks of what the simulator runs: which are on, and what they found.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::check::{Checks, Finding};
use cuda_sim::driver::Driver;

use super::queue::{self, Awaited};
use super::watch::{Event, tell};
use super::{driver, host, idle_driver, lock};
use crate::fork;
use crate::report::{guarded, say};

/// The checks that are on.
static ON: Mutex<Checks> = Mutex::new(Checks::NONE);

/// What was found and not taken yet.
static FOUND: Mutex<Vec<Finding>> = Mutex::new(Vec::new());

/// Whether findings go to stderr: they do where the environment asked for the checks.
static TO_STDERR: AtomicBool = AtomicBool::new(false);

/// The most findings of one launch that go to stderr.
const MAX_TO_STDERR: usize = 20;

/// Has the simulator look for mistakes in what runs on it from now on; see
/// [`cuda_sim::check`]. A launch takes several times as long. [`Checks::init`] looks at memory
/// allocated from now on. On a GPU it changes nothing.
pub fn check(checks: Checks) {
    queue::wait(Awaited::All);
    host::collect();
    host::set(checks.host);
    *lock(&ON) = checks;
    if let Ok(mut driver) = driver() {
        driver.set_checks(checks);
    }
}

/// Which checks are on.
pub fn checking() -> Checks {
    *lock(&ON)
}

/// What checks found since this was last asked: each mistake of a launch once, and memory that was
/// still allocated when its context was destroyed.
pub fn take_findings() -> Vec<Finding> {
    queue::wait(Awaited::All);
    host::collect();
    std::mem::take(&mut lock(&FOUND))
}

/// Turns on the checks that `CUDA_SIM_CHECK` asks for: what they find goes to stderr.
pub fn check_aloud(checks: Checks) {
    TO_STDERR.store(true, Ordering::Relaxed);
    host::set(checks.host);
    *lock(&ON) = checks;
}

/// From now on what checks find goes to nobody but who observes, or asks for it.
pub fn check_quietly() {
    TO_STDERR.store(false, Ordering::Relaxed);
}

/// Keeps what was found in a launch or when a context was destroyed, and prints it if that is wanted.
/// Not `said` again, which went to stderr already.
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

/// Reports what was still allocated when a context was destroyed, if that was looked for, and gives
/// the machine back before, so that nobody has to wait for the report.
pub fn report_leaks(mut driver: MutexGuard<Driver>) {
    let leaks = driver.take_leaks();
    drop(driver);
    report(leaks, None);
}

/// Reports what has leaked: all that is still allocated when the program ends. Nothing where the
/// program ends in the middle of a call, as Ctrl-C ends it, for that call keeps the machine. Nor in a child
/// that `fork` has made: its parent reports.
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
