//! Stream capture: work put into a stream that is captured becomes nodes of a graph and is not done.
//! `state.rs` has what is captured, `rules.rs` which calls a capture forbids, `calls.rs` the driver API's
//! functions.

pub mod calls;
mod collect;
pub mod rules;
mod state;

pub use collect::{collect, forget_event, forget_stream, forget_streams, record_event, wait_event};
