//! Runs programs: a warp at a time, 32 lanes an instruction, blocks over host threads.

pub(crate) mod access;
pub(crate) mod address;
pub(crate) mod async_copy;
pub(crate) mod atomic;
mod block;
pub(crate) mod control;
pub(crate) mod cpu;
mod decimal;
pub mod fault;
pub(crate) mod gang;
pub(crate) mod grid;
pub(crate) mod identity;
pub(crate) mod lanes;
pub(crate) mod matrix;
mod miss;
pub(crate) mod observe;
pub(crate) mod ops;
mod printf;
pub(crate) mod quarters;
mod sample;
pub(crate) mod sm;
pub(crate) mod space;
mod spread;
pub(crate) mod sync;
pub(crate) mod system;
pub(crate) mod tensor;
pub(crate) mod warp;
mod watch;
mod window;

pub use fault::{Fault, FaultKind};
pub use grid::{Launch, Report, launch};
pub use miss::Miss;
pub use ops::{Class, Known, catalogue};
pub use sample::Observe;
pub(crate) use sample::Part;
pub use watch::{Progress, Watch};
