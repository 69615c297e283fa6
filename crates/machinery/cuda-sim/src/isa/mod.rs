//! What an instruction is, for everyone who is not the one that runs it: its class, what it does to
//! memory, what checks look at, and where in the source it comes from.

mod access;
mod access_class;
mod access_set;
pub mod checked;
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
pub use update::{Means, Update};
