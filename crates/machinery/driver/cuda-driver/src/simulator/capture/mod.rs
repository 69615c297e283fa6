//! Stream capture: operations submitted to a capturing stream become graph nodes and do not execute.
//! `state.rs` has the active captures, `collect.rs` adds nodes to them, `rules.rs` checks which calls a
//! capture forbids, and `api.rs` implements the driver API's functions.

pub mod api;
mod collect;
pub mod rules;
mod state;

pub use collect::{collect, forget_event, forget_stream, forget_streams, record_event, wait_event};
pub use state::{CaptureTable, Mode};
