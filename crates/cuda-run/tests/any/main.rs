//! Programs that load `libcuda.so.1` themselves, run by `cuda-run -- PROGRAM`: this test program again, as one of
//! its ignored tests, which is a program of its own.
#![cfg(target_os = "linux")]

mod assembler;
mod client;
mod ends;
mod nvml;
mod processes;
#[path = "../shared/run.rs"]
mod run;
mod support;
mod told;
mod variables;
