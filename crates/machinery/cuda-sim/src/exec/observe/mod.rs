//! What a block does to the memory system, counted: what each access comes to, and what the caches
//! of its multiprocessor have of it.
//!
//! The handlers that count are in [`super::observed`].

mod caches;
mod cost;
mod noted;
mod observer;

pub use caches::{Caches, LINE};
pub use cost::{AccessCost, Transfer};
pub use noted::Noted;
pub use observer::Observer;
