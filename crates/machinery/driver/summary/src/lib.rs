//! The report at the end of a program: its kernels, the findings of the checks, and what was rejected.
//!
//! | module | contents |
//! |---|---|
//! | [`wire`] | the events of a program's process, passed through a file |
//! | `counters`, `recent` | shared counters for repeated launches |
//! | [`kernels`] | aggregation of all launches of a kernel |
//! | [`text`] | the report as text |
//! | [`record`] | the report as a JSON record |
//! | [`log`] | the driver functions called, and what was rejected |
//!
//! `cuda-run` reports on the programs that it runs; the library that programs load as `libcuda.so.1` reports on
//! the program that loaded it.

pub mod kernels;
pub mod log;
pub mod record;
pub mod text;
pub mod wire;

mod counters;
mod event_log;
mod recent;

pub use event_log::{EventLog, Summary};
pub use text::TextOptions;
