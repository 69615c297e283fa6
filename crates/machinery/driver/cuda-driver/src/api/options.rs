//! The options of later launches. They can be set before the simulator starts, and are read without the driver's
//! lock, which a running launch holds; the driver has a copy of them.

use cuda_sim::check::Checks;
use cuda_sim::exec::{FaultModel, LaunchOptions, Progress, Tracing};

use super::SIMULATOR;
use crate::simulator::WaitTarget;

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
