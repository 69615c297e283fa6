//! Checks of what the simulator runs: which are on, and what they found.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_sim::check::{Checks, Finding};

use super::{driver, idle_driver};
use crate::report::{guarded, say};

static ON: Mutex<Checks> = Mutex::new(Checks::NONE);

static FOUND: Mutex<Vec<Finding>> = Mutex::new(Vec::new());

/// Findings go to stderr: the environment asked for the checks.
static SAYS: AtomicBool = AtomicBool::new(false);

/// At most so many findings of a launch go to stderr.
const MOST: usize = 20;

/// Has the simulator look for mistakes in what runs on it from now on; see
/// [`cuda_sim::check`]. A launch takes several times as long. Which bytes of device memory are
/// written is known of memory allocated from now on. A GPU takes no notice.
pub fn check(checks: Checks) {
    *on() = checks;
    if let Ok(mut driver) = driver() {
        driver.set_checks(checks);
    }
}

/// Which checks are on.
pub fn checking() -> Checks {
    *on()
}

/// What checks found since this was last asked, each mistake of a launch once, and what was still
/// allocated when contexts went.
pub fn take_findings() -> Vec<Finding> {
    std::mem::take(&mut found())
}

/// `CUDA_SIM_CHECK` asks for these: what they find goes to stderr.
pub fn check_aloud(checks: Checks) {
    SAYS.store(true, Ordering::Relaxed);
    *on() = checks;
}

/// What was found in a launch, or when a context went. `said` went to stderr already.
pub fn report(findings: Vec<Finding>, said: Option<&Finding>) {
    if SAYS.load(Ordering::Relaxed) {
        let new = findings.iter().filter(|&finding| Some(finding) != said);
        let new: Vec<&Finding> = new.collect();
        for finding in new.iter().take(MOST) {
            say(format_args!("{finding}"));
        }
        if new.len() > MOST {
            say(format_args!("and {} more findings", new.len() - MOST));
        }
    }
    found().extend(findings);
}

/// The program ends: what is still allocated has leaked. If it ends in the middle of a call, as Ctrl-C
/// ends it, nobody waits for that.
pub extern "C" fn at_exit() {
    guarded("exit", || {
        if let Some(mut driver) = idle_driver() {
            let leaks = driver.take_leaks_at_exit();
            drop(driver);
            report(leaks, None);
        }
        Ok(())
    });
}

fn on() -> MutexGuard<'static, Checks> {
    ON.lock().unwrap_or_else(PoisonError::into_inner)
}

fn found() -> MutexGuard<'static, Vec<Finding>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}
