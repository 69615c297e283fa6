//! Runs programs: a warp at a time, 32 lanes an instruction, blocks over host threads.

pub(crate) mod access;
pub(crate) mod address;
pub(crate) mod async_copy;
pub(crate) mod atomic;
mod block;
mod checked;
mod conditions;
pub(crate) mod control;
pub(crate) mod copies;
pub(crate) mod cpu;
mod deadlock;
mod decimal;
pub mod fault;
pub(crate) mod function;
pub(crate) mod gang;
pub(crate) mod identity;
pub(crate) mod lanewise;
pub(crate) mod matrix;
pub(crate) mod observe;
pub(crate) mod observed;
pub(crate) mod ops;
pub(crate) mod ordered;
mod printf;
#[cfg(test)]
pub(crate) mod random;
pub(crate) mod run;
mod sample;
pub(crate) mod sm;
pub(crate) mod space;
mod spread;
pub(crate) mod sync;
pub(crate) mod system;
pub(crate) mod tensor;
mod threads;
pub(crate) mod together;
pub(crate) mod trace;
mod turn;
pub(crate) mod warp;
mod watch;
mod window;

pub use conditions::Conditions;
pub use fault::{Fault, FaultKind, Miss};
pub use sample::Observe;
pub use sm::Program;
pub use trace::Traced;
pub use watch::{Progress, Watch};
