//! The driver beyond its C API, for programs in Rust: the options of later launches, and the observation of the program by
//! events, reports of launches, the sanitizer's findings, and failed calls.
//!
//! The options can be set before the simulator starts, and are read without the driver's lock, which a running launch holds;
//! the driver has a copy of them. A failed call is reported once, by the outermost API function: the runtime's functions call
//! the driver's.

use std::sync::Arc;

use cuda_sim::check::{Checks, Finding, reason};
use cuda_sim::exec::{FaultModel, LaunchOptions, Progress, Tracing};
use cuda_sim::launch::{LaunchRecord, LaunchReport};

use super::SIMULATOR;
use crate::simulator::{
    Event, FailedCall, Observer, Reports, WaitTarget, in_child, lock, with_calls,
};
use crate::status::{Code, ErrorText, SUCCESS, catch_panic};

/// Enables checks of what runs on the simulator; see [`cuda_sim::check`]. Launches take several times as long.
/// [`Checks::init`] covers only memory allocated after this call. Has no effect on a GPU.
pub fn check(checks: Checks) {
    SIMULATOR.wait(WaitTarget::All);
    SIMULATOR.report_host_accesses();
    SIMULATOR.host_access.set_enabled(checks.host);
    SIMULATOR.stream_order.set_checks(checks);
    SIMULATOR.update_options(|options| options.checks = checks);
}

/// Sets the checks before the simulator starts.
pub fn set_initial_checks(checks: Checks) {
    SIMULATOR.host_access.set_enabled(checks.host);
    SIMULATOR.stream_order.set_checks(checks);
    SIMULATOR.options().checks = checks;
}

/// Returns the active checks.
pub fn active_checks() -> Checks {
    SIMULATOR.options().checks
}

/// Enables or disables profiling: later launches on the simulator collect all counters, per source line, and
/// take up to twice as long. Has no effect on a GPU.
pub fn profile(on: bool) {
    SIMULATOR.update_options(|options| options.profile = on);
}

/// Returns true if [`profile`] is on.
pub fn is_profiling() -> bool {
    SIMULATOR.options().profile
}

/// Sets which accesses later launches on the simulator trace: the addresses of a warp and the resulting
/// requests. Tracing launches take several times as long. Has no effect on a GPU.
pub fn trace(tracing: Option<Tracing>) {
    SIMULATOR.update_options(|options| options.tracing = tracing);
}

/// Returns the progress of the launch that is running on the simulator, whichever thread started it; `None`
/// if none is running, and on a GPU.
pub fn progress() -> Option<Progress> {
    let watch = SIMULATOR.options().watch.clone();
    watch.progress()
}

/// Runs later launches on the simulator in a random order (seeded): all blocks that fit on the device at a
/// time are resident at once, and before any access to memory shared with other threads a warp may be delayed
/// for as long as others can make progress. The lanes of a warp stay in lockstep.
///
/// A correct kernel still gives correct results; one that lacks an atomic or a barrier gives wrong results
/// with most seeds. The same seed gives the same order. Launches take several times as long, on one host
/// thread. Their counters and modelled times are meaningless, and they have no profile.
///
/// Stream operations and graph nodes are shuffled too, within the order that streams, events and edges allow.
/// A wait for a stream completes no more operations of other streams than it needs.
///
/// `None` restores the default order. Has no effect on a GPU. `CUDA_SIM_SHUFFLE` sets the seed for any program.
pub fn shuffle(seed: Option<u64>) {
    update_conditions(|options| options.conditions.shuffle = seed);
}

/// Sets the word that fills uninitialized memory on the simulator: device memory allocated after this call,
/// shared memory when a block starts, local memory when a thread starts. A result that differs between two
/// such words depends on uninitialized memory. In local memory, sign, exponent and low bits of the word differ
/// between a thread and the next two. Module variables always start with their initializer or zero.
/// `None` fills with zero. Has no effect on a GPU.
pub fn poison(word: Option<u32>) {
    update_conditions(|options| options.conditions.poison = word);
}

/// Randomizes the sample of blocks whose caches are simulated for the time model, so that a kernel cannot
/// predict it: all blocks, or in large grids those of SMs drawn from the seed. `None` samples the blocks of
/// the same few SMs each time. Has no effect on a GPU.
pub fn set_sample_seed(seed: Option<u64>) {
    update_conditions(|options| options.conditions.sample_seed = seed);
}

/// Changes the conditions among the options. The sequence of random choices starts again.
fn update_conditions(change: impl FnOnce(&mut LaunchOptions)) {
    SIMULATOR.wait(WaitTarget::All);
    SIMULATOR.queue.restart_shuffle();
    SIMULATOR.update_options(change);
}

/// Makes faults those of a GPU; see [`FaultModel::Hardware`]. For programs that expect NVIDIA's driver.
pub fn use_hardware_faults() {
    SIMULATOR.update_options(|options| options.fault_model = FaultModel::Hardware);
}

/// Does some work, during which launches have exact faults that affect only their context; see [`FaultModel::Exact`].
/// Other threads must not do the same at the same time.
pub fn with_exact_faults<T>(work: impl FnOnce() -> T) -> T {
    let set = |model| {
        SIMULATOR.wait(WaitTarget::All);
        let mut previous = model;
        SIMULATOR.update_options(|options| {
            previous = std::mem::replace(&mut options.fault_model, model);
        });
        previous
    };
    let previous = set(FaultModel::Exact);
    let result = work();
    set(previous);
    result
}

/// Makes Ctrl-C and requests to terminate end the running launch, which is reported, before they take effect. For
/// programs that expect NVIDIA's driver and know nothing about the simulator.
pub fn interrupt_launches_on_ctrl_c() {
    SIMULATOR.enable_interrupts();
}

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

/// Runs the body of the API function `function`, and reports the error that it returns, unless another API
/// function made the call. `find` looks up an error in the API's table. `body` must not panic.
pub fn report_failure(
    function: &'static str,
    find: fn(Code) -> Option<&'static ErrorText>,
    body: impl FnOnce() -> Code,
) -> Code {
    // Hundreds of functions instantiate this one, so everything that does not depend on `body` is a function of its
    // own.
    let depth = begin_call(function);
    let code = body();
    end_call(function, find, depth, code);
    code
}

/// Counts the API function that the thread enters. Returns the number of those that it is already in.
fn begin_call(function: &'static str) -> u32 {
    let depth = with_calls(|calls| calls.depth.replace(calls.depth.get() + 1));
    if depth == 0 {
        with_calls(|calls| calls.function.set(function));
        reason::take();
    }
    depth
}

/// Restores the number of API functions that the thread is in, and reports the result of the outermost one.
fn end_call(
    function: &'static str,
    find: fn(Code) -> Option<&'static ErrorText>,
    depth: u32,
    code: Code,
) {
    with_calls(|calls| calls.depth.set(depth));
    if depth > 0 || code == SUCCESS || in_child() {
        return;
    }
    let error = find(code).map(|&(_, name, meaning)| (name, meaning));
    let call = FailedCall {
        function,
        code,
        error,
        kernel: with_calls(|calls| calls.kernel.take()),
        reason: reason::take(),
    };
    catch_panic(function, &mut || {
        SIMULATOR.telemetry.emit(Event::CallFailed(&call));
        Ok(())
    });
}

/// Returns the name of the API function that the program called on this thread; `None` if it is in none.
pub fn current_function() -> Option<&'static str> {
    with_calls(|calls| (calls.depth.get() > 0).then(|| calls.function.get()))
}

/// Names the kernel that the running API function failed to launch, for the report.
pub fn name_kernel(symbol: String) {
    with_calls(|calls| calls.kernel.replace(Some(symbol)));
}

/// Reports that the program has fetched an error: its last error, or the name or description of an error. The API
/// function that it called for this may be inside [`report_failure`], but not inside another API function.
pub fn report_fetched(code: Code) {
    if code != SUCCESS && with_calls(|calls| calls.depth.get()) <= 1 {
        SIMULATOR.telemetry.emit(Event::ErrorFetched(code));
    }
}
