//! Static properties of instructions, for everything except execution: throughput classes, memory accesses,
//! sanitizer events and source lines.

mod access;
mod access_class;
mod access_set;
pub mod check_event;
mod class;
mod dims;
mod kernel;
pub mod listing;
pub mod sites;
mod source;
mod update;

pub use access::{Access, AccessKind, Memory, Ordered};
pub use access_class::{AccessClass, AccessRow, CachedIn, Direction};
pub use access_set::AccessSet;
pub use class::Class;
pub use dims::{Dims, coordinates};
pub use kernel::{Kernel, Param};
pub use listing::Listing;
pub use source::SourceLine;
pub use update::{AtomicMethod, Update};
