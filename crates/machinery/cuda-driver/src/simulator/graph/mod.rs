//! Graphs: work that is put together first, by hand or by capturing streams, and launched as often as
//! wanted. `body.rs` has them as data, `store.rs` all that there are; the other files are the driver API's
//! functions, one topic each.

mod body;
pub mod dot;
pub mod exec;
pub mod memory;
pub mod nodes;
pub mod objects;
pub mod params;
pub mod reading;
pub mod run;
pub mod shape;
mod showing;
mod store;
pub mod update;

pub use body::{Body, GraphId, NodeId, Random};
pub use store::graphs;
