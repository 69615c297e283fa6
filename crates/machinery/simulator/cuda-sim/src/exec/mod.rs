//! The executor: runs programs, one warp instruction for 32 lanes at once, with blocks distributed over host
//! threads. The crate's documentation explains its concepts.
//!
//! Files depend on each other in this order: the state of blocks and warps (`block`, `warp`, `window`,
//! `gang_state`, `profiler`), the SM that runs them and the program it executes (`sm`), the handlers (`ops`
//! for registers, `access`, `control`, `sync`, `tensor`, `gang` and others), the instrumented copies of the
//! code (`instrument`), and the distribution of blocks over host threads (`worker`, `dispatch`, `run`).

pub(crate) mod access;
mod access_pattern;
pub(crate) mod address;
pub(crate) mod async_copy;
pub(crate) mod atomic;
mod block;
mod block_queue;
mod conditions;
pub(crate) mod control;
pub(crate) mod cp_async_groups;
pub(crate) mod cpu;
mod deadlock;
pub(crate) mod device_runtime;
mod dispatch;
pub mod fault;
pub(crate) mod function;
pub(crate) mod gang;
pub(crate) mod gang_state;
mod heap;
pub mod image;
pub(crate) mod instrument;
mod interrupt;
pub(crate) mod lanewise;
pub(crate) mod launch_cache;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory_order;
pub(crate) mod ops;
mod printf;
pub(crate) mod profiler;
mod progress;
#[cfg(test)]
pub(crate) mod random;
pub(crate) mod random_schedule;
pub(crate) mod run;
mod sample;
pub(crate) mod sm;
pub(crate) mod special_registers;
mod spin;
pub(crate) mod state_space;
pub(crate) mod sync;
pub(crate) mod tensor;
pub(crate) mod texels;
mod thread_idx;
mod time_limit;
pub(crate) mod trace;
mod turn;
pub(crate) mod warp;
mod watchdog;
mod wgmma_groups;
mod window;
mod worker;

pub use conditions::Conditions;
pub use fault::{Diagnosis, Fault, FaultKind};
pub use heap::Heap;
pub use interrupt::{forget_interrupts, interrupt};
pub use progress::{Progress, Watch};
pub use sample::ProfileMode;
pub use sm::Program;
pub use time_limit::TimeLimit;
pub use trace::Traced;
