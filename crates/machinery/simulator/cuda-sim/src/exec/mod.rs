//! The executor: runs programs, one warp instruction for 32 lanes at once, with blocks distributed over host
//! threads. The crate's documentation explains its concepts.
//!
//! Modules depend on each other in this order: the state of warps and gangs (`warp`, `schedule`), faults and the
//! profiler (`fault`, `profiler`), the SM that owns them and the program it executes (`sm`), the handlers
//! (`lanewise` and `ops` for registers, `memory`, `control`, `sync`, `tensor`, `texels`, `gang` and others), the
//! instrumented copies of the code (`instrument`), and the distribution of blocks over host threads (`turn`,
//! `worker`, `run`).

pub mod compiled;
pub(crate) mod control;
pub(crate) mod cpu;
pub(crate) mod device_runtime;
pub mod fault;
pub(crate) mod gang;
pub mod image;
pub(crate) mod instrument {
    //! Instrumented copies of a program's code: the same instructions at the same addresses, with handlers that count,
    //! check or suspend the warp before they run the handler of the copy below.

    pub mod counting;
    pub mod random_schedule;
    pub mod sanitizing;
}
pub(crate) mod lanewise;
pub(crate) mod launch_cache;
pub(crate) mod memory {
    //! The handlers that access memory: loads and stores, atomics, asynchronous copies, barriers in memory and fences.

    pub mod access;
    pub mod async_copy;
    pub mod atomic;
    pub mod bulk;
    pub mod mbarrier;
    pub mod memory_order;
    pub mod state_space;
}
pub(crate) mod ops;
pub(crate) mod profiler;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod sm;
pub(crate) mod special_registers;
pub(crate) mod sync;
pub(crate) mod tensor;
pub(crate) mod texels;
mod turn;
pub(crate) mod warp;
mod worker;

pub use crate::check::{FaultKind, TimeLimit};
pub use device_runtime::is_device_function;
pub use fault::{Diagnosis, Fault};
pub use profiler::trace::Traced;
pub use schedule::progress::{Progress, Watch, forget_interrupts, interrupt};
pub use sm::Program;
pub use sm::heap::Heap;
pub use sm::launch_spec::{
    Conditions, FaultModel, GraphConditions, LaunchOptions, LaunchSpec, Resources, Tracing,
};
pub use sm::runtime::{DeviceRuntime, error as device_error};
