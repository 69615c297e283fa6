//! Observation of launches beyond the driver API: events, reports of launches, and the sanitizer's findings.

use std::sync::Arc;

use cuda_sim::check::{Checks, Finding};
use cuda_sim::launch::{LaunchRecord, LaunchReport};

use super::SIMULATOR;
use super::options::set_initial_checks;
use crate::log::catch_panic;
use crate::simulator::{Observer, Reports, WaitTarget, in_child, lock};

/// Sets the observer of events. It receives every launch as soon as the launch ends, so that a program can
/// save records even if it crashes later. Only the first observer counts.
pub fn set_observer(observer: Observer) {
    SIMULATOR.telemetry.set_observer(observer);
}

/// A recorder of launches: it receives the report of every launch that the simulator runs while the recorder
/// lives, whichever thread made the launch. On a GPU it receives none.
#[derive(Debug)]
pub struct LaunchRecorder(Arc<Reports>);

/// Starts recording launches.
pub fn record_launches() -> LaunchRecorder {
    SIMULATOR.wait(WaitTarget::All);
    LaunchRecorder(SIMULATOR.telemetry.add_recorder())
}

impl LaunchRecorder {
    /// Returns the record of the last launch; `None` if it faulted, and if there has been none since recording
    /// started or since the reports were taken.
    pub fn last(&self) -> Option<LaunchRecord> {
        SIMULATOR.wait(WaitTarget::All);
        lock(&self.0).last()?.result.clone().ok()
    }

    /// Returns the reports of the launches since the last call, in order, including launches that faulted.
    pub fn take(&self) -> Vec<LaunchReport> {
        SIMULATOR.wait(WaitTarget::All);
        std::mem::take(&mut lock(&self.0))
    }
}

/// Waits until all submitted work is complete, and reports the host's accesses until now.
pub fn wait_for_pending_work() {
    SIMULATOR.wait(WaitTarget::All);
    SIMULATOR.report_host_accesses();
}

/// Enables the checks that `CUDA_SIM_CHECK` names, and prints their findings on stderr.
pub fn enable_printed(checks: Checks) {
    SIMULATOR.telemetry.print_findings();
    set_initial_checks(checks);
}

/// Stops printing findings, and faults that are findings: the observer reports them at the program's end.
/// [`take_findings`] still gets them.
pub fn defer_findings() {
    SIMULATOR.telemetry.defer_findings();
}

/// Returns the findings since the last call: each error of a launch once, and memory that was still allocated
/// when its context was destroyed.
pub fn take_findings() -> Vec<Finding> {
    wait_for_pending_work();
    SIMULATOR.telemetry.take_findings()
}

/// Reports leaks at program exit: everything that is still allocated. Does nothing if the program exits
/// during a call, as on Ctrl-C, because that call holds the driver's lock; and nothing in a forked child,
/// because its parent reports.
pub extern "C" fn at_exit() {
    catch_panic("exit", &mut || {
        let driver_is_busy =
            SIMULATOR.try_lock_driver().is_none() && !SIMULATOR.queue.in_background();
        if in_child() || driver_is_busy {
            return Ok(());
        }
        wait_for_pending_work();
        if let Some(mut driver) = SIMULATOR.try_lock_driver() {
            let leaks = driver.take_leaks_at_exit();
            SIMULATOR.report_call_findings(driver);
            SIMULATOR.telemetry.report_findings(&leaks, None);
        }
        Ok(())
    });
}
