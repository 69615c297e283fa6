//! The CUDA driver API's functions (`cuInit` and its sisters), defined here so that `cust` links
//! and runs on any machine.
//!
//! `extern crate cuda_driver as _;` in a program that uses `cust` is all it takes. The first
//! `cuInit` chooses, once, who answers: NVIDIA's driver if it loads, initialises and finds a GPU,
//! else the built-in simulator, with one line on stderr that says so and why.
//! `CUDA_BACKEND=gpu` or `CUDA_BACKEND=sim` forces the choice. `CUDA_SIM_DEVICE` names the GPU that
//! the simulator models, one of [`device::PRESETS`], and `CUDA_SIM_DEVICES` how many of it the machine has, 1 to 16;
//! they say nothing to a real GPU.
//!
//! With NVIDIA's driver, a call is one indirect jump into its library. What the simulator does not do answers
//! `CUDA_ERROR_NOT_SUPPORTED` and says its name on stderr.
//!
//! `CUDA_SIM_CHECK=mem,init,race,sync,leak,host`, or `all`, has the simulator look for mistakes in what
//! runs on it, and say on stderr what it finds; [`check()`] does so from inside a program.
//!
//! The simulator knows more of its launches than the driver API asks for: [`progress`] says how far
//! one is, and [`last_launch`] and [`take_fault`] what came of it.
//!
//! It can run launches under other conditions than the usual ones, to see whether a kernel is right by
//! itself: [`shuffle()`], [`poison()`], [`watch_blocks()`].
//!
//! Any thread may call, rayon's workers included. The simulator takes one call at a time; a launch
//! runs on threads of its own while who does it sleeps.
//!
//! Work of streams is done when something waits for it, or the program has called nothing for a short while:
//! in the order of the calls, unless it is shuffled. What this crate tells of launches waits for them first.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("CUDA has 64-bit addresses: build for a 64-bit target");

#[cfg(test)]
mod differences;
mod errors;
mod fork;
pub mod functions;
pub mod names;
mod nvidia;
mod proc_address;
mod report;
mod simulator;
mod start;
mod status;
mod timed;
pub mod types;

pub use cuda_sim::check::{Check, Checks, Finding, FindingKind, OtherAccess, Severity};
pub use cuda_sim::driver::Tracing;
pub use cuda_sim::exec::Progress;
pub use cuda_sim::exec::fault::{Fault, FaultKind, FaultPlace};
pub use cuda_sim::exec::{TimeLimit, Traced};
pub use cuda_sim::isa::{
    AccessClass, AccessKind, AccessSet, Direction, Memory, SourceLine, coordinates,
};
pub use cuda_sim::launch::LaunchRecord;
pub use cuda_sim::memory::global::MAX_DEVICES;
pub use cuda_sim::{device, model, profile as counters};
pub use fork::in_child;
pub use report::say;
pub use simulator::check::{check, check_quietly, checking, take_findings};
pub use simulator::conditions::{poison, shuffle, watch_blocks};
pub use simulator::device::VERSION as SIMULATED_VERSION;
pub use simulator::device::{device_bus_id, device_memory, device_uuid};
pub use simulator::interrupt::end_launches_at_ctrl_c;
pub use simulator::watch::{
    Event, Observer, keep_launches, last_launch, observe, profile, profiling, progress, take_fault,
    take_last_launch, take_launches, take_traces, trace,
};
pub use start::{Backend, Preparation, backend, before_simulating, simulated};
pub use status::Status;
pub use timed::TimedLaunch;
