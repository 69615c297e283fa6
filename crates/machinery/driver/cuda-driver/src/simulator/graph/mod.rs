//! Graphs: operations that are assembled once, by hand or by stream capture, and launched repeatedly.
//! `body.rs` has the data structure, `store.rs` the table of all graphs; the other files implement the driver
//! API's functions, one topic each.

mod body;
pub mod dot;
pub mod exec;
pub mod memory;
pub mod nodes;
pub mod objects;
pub mod params;
pub mod params_in;
mod params_out;
pub mod run;
mod store;
pub mod topology;
pub mod update;

pub use body::{Body, GraphId, NodeId, Random};
pub use store::{ExecId, Graphs, graphs};
