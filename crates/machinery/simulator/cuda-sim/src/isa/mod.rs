//! Static properties of instructions, for everything except execution: throughput classes, memory accesses,
//! sanitizer events and source lines.

mod access;
pub mod check_event;
pub mod listing;
pub mod operation;

pub use access::{
    Access, AccessClass, AccessKind, AccessRow, AccessSet, AtomicMethod, CachedIn, Direction,
    Element, LoadedValue, Memory, NextAtomic, Ordered, Update,
};
pub use listing::{Class, Dims, ExternArrays, Kernel, Listing, Param, SourceLine, coordinates};
pub use operation::RegisterClass;
