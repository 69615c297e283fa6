//! Profiling: counts the memory accesses of a block and simulates the caches of its SM.
//!
//! The handlers that count are in [`super::instrument::counting`].

pub mod access_pattern;
mod caches;
mod cost;
mod deferred;
mod recorder;
pub mod sample;
pub mod trace;

pub use caches::{Caches, LINE};
pub use cost::{AccessCost, Transfer};
pub use deferred::DeferredAccesses;
pub use recorder::Profiler;
