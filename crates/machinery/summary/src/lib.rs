//! What is told at a program's end: its kernels, what checks found, what was refused.
//!
//! | module | what it does |
//! |---|---|
//! | [`wire`] | what a program's process tells, through a file |
//! | `repeats`, `lately` | launches that are told of by a count alone |
//! | [`kernels`] | all launches of a kernel together |
//! | [`text`] | the summary as a reader takes it in |
//! | [`record`] | the JSON record |
//! | [`log`] | the functions that were called, and what was refused |
//!
//! `cuda-run` writes it of programs that it runs, and the library that programs load as `libcuda.so.1` of the
//! program that it is in.

pub mod kernels;
pub mod log;
pub mod record;
pub mod text;
pub mod wire;

mod gathered;
mod lately;
mod repeats;

pub use gathered::{Gathered, Summary};
pub use text::Shown;
