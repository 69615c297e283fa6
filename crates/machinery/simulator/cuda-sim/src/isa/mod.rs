//! Static properties of instructions, for everything except execution: throughput classes, memory accesses,
//! sanitizer events and source lines.

mod access;
mod access_class;
pub mod check_event;
mod kernel;
pub mod listing;

pub use access::{
    Access, AccessKind, AtomicMethod, Element, LoadedValue, Memory, NextAtomic, Ordered, Update,
};
pub use access_class::{AccessClass, AccessRow, AccessSet, CachedIn, Direction};
pub use kernel::{Dims, ExternArrays, Kernel, Param, coordinates};
pub use listing::{Class, Listing, SourceLine};
