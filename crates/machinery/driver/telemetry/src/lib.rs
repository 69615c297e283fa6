//! The telemetry of a program: its events, collected while it runs, and the report printed when it exits.
//!
//! A process appends its events to a file ([`wire`]), so that they survive any end of the process. The events
//! add up to a [`Summary`]: kernels, findings of the checks, and what was rejected. It is printed as text
//! ([`text`]), as a JSON record ([`record`]) or as a log. Its [`Problem`]s are the list that other formats contain.
//!
//! `cuda-run` reads the files of the programs that it compiles or starts. A program that loads `libcuda.so.1`
//! without `cuda-run` collects its events itself and reports them at its end ([`report_at_exit`]).

mod caller;
pub mod exit;
pub mod failures;
mod problems;
mod process;
pub mod record;
mod summary;
pub mod text;
pub mod wire;

pub use caller::name_calls;
pub use failures::Level;
pub use problems::{Problem, Related, Rule};
pub use process::{EVENTS_VAR, report_at_exit, start_recording, take_recording};
pub use summary::{Api, EventLog, Summary};
