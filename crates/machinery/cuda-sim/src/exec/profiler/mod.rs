//! What a block does to the memory system, counted: what each access comes to, and what the caches
//! of its multiprocessor have of it.
//!
//! The handlers that count are in [`super::instrument::counting`].

mod caches;
mod cost;
mod deferred;
mod recorder;

pub use caches::{Caches, LINE};
pub use cost::{AccessCost, Transfer};
pub use deferred::DeferredAccesses;
pub use recorder::Profiler;
