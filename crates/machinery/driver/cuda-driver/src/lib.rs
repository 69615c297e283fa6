//! The functions of the CUDA driver API (`cuInit` and the rest), exported under their C names so that
//! programs that use `cust` link and run on any machine.
//!
//! A program that uses `cust` needs only `extern crate cuda_driver as _;`. The first `cuInit` selects the
//! backend for the whole process: NVIDIA's driver if it loads, initializes and finds a GPU, otherwise the
//! built-in simulator; one line on stderr then gives the reason. `CUDA_BACKEND=gpu` or `CUDA_BACKEND=sim`
//! forces a backend. `CUDA_SIM_DEVICE` names the GPU model to simulate, one of [`device::PRESETS`];
//! `CUDA_SIM_DEVICES` sets the number of GPUs, 1 to 16. Neither affects a real GPU.
//!
//! With NVIDIA's driver, each call is one indirect jump into its library. Functions that the simulator does not
//! implement return `CUDA_ERROR_NOT_SUPPORTED` and print their name on stderr.
//!
//! `CUDA_SIM_CHECK=mem,init,race,sync,leak,host,stream`, or `all`, makes the simulator check the programs it runs
//! and print its findings on stderr (`all,unused` also finds input that nothing reads); [`check()`] does the same from inside a program.
//!
//! The simulator reports more about launches than the driver API can: [`record_launches`] returns a recorder of
//! their counters, modelled times, traces and faults, and [`progress`] the progress of the running launch.
//!
//! Launches can run under unusual conditions, which reveal kernels whose results depend on timing or on
//! uninitialized memory: [`shuffle()`] (or `CUDA_SIM_SHUFFLE=SEED`), [`poison()`], [`set_sample_seed()`].
//!
//! Any thread may call the driver, including rayon's workers. The simulator executes one call at a time; a
//! launch runs on the simulator's own threads while the calling thread sleeps.
//!
//! The work of streams is executed when a call waits for it, or after the program has made no driver call for
//! a short while: in submission order, unless launches are shuffled. This crate's functions that report on
//! launches wait for pending work first.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("CUDA has 64-bit addresses: build for a 64-bit target");

mod api;
mod arguments;
#[cfg(test)]
mod differences;
pub mod functions;
pub mod names;
mod simulator;
mod status;
pub mod types;

pub use api::device::{
    DRIVER as SIMULATED_DRIVER, VERSION as SIMULATED_VERSION, device_bus_id, device_memory,
    device_uuid_text,
};
pub use api::function::parameter_sizes;
pub use api::launch::submit_library_call;
pub use api::telemetry::{
    LaunchRecorder, active_checks, check, current_function, defer_findings,
    interrupt_launches_on_ctrl_c, is_profiling, name_kernel, poison, profile, progress,
    record_launches, report_failure, report_fetched, set_observer, set_sample_seed, shuffle,
    take_findings, trace, use_hardware_faults, wait_for_pending_work, with_exact_faults,
};
pub use cuda_sim::check::reason::{self, Reason};
pub use cuda_sim::check::{
    Cause, Check, Checks, Details, FaultKind, Finding, FindingKind, OtherAccess, Severity,
};
pub use cuda_sim::driver::{
    Arithmetic, CallMemory, IllegalOperand, LibraryCall, MemoryRows, Operations,
};
pub use cuda_sim::exec::fault::{Fault, FaultLocation};
pub use cuda_sim::exec::{Progress, TimeLimit, Traced, Tracing, is_device_function};
pub use cuda_sim::isa::{
    AccessClass, AccessKind, AccessSet, Direction, Memory, SourceLine, coordinates,
};
pub use cuda_sim::launch::{LaunchRecord, LaunchReport};
pub use cuda_sim::lower::{missing_instruction, required_version};
pub use cuda_sim::memory::global::{AllocationCall, AllocationRecord, CallSite, MAX_DEVICES, Rows};
pub use cuda_sim::{check as findings, device, model, profile as counters, ptx};
pub use functions::backend::{
    Backend, OnSimulatorStart, backend, check_leaks_at_exit, configured_devices,
    on_simulator_start, prefer_simulator, select_quietly,
};
#[cfg(unix)]
pub use simulator::defer_final_handler;
pub use simulator::{Event, FailedCall, Observer, detect_forks, in_child};
pub use status::{ErrorText, Status, warn};

use serde::{Deserialize, Serialize};

/// A completed launch on a GPU with its measured time, in the form that programs serialize.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedLaunch {
    /// The kernel's name in the device code.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The time between two events, in milliseconds. The resolution is 0.5 µs; the events' own overhead is
    /// included.
    pub milliseconds: f64,
}
