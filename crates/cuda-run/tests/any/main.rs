//! Programs that load `libcuda.so.1` themselves, run by `cuda-run -- PROGRAM`. The programs are ignored tests
//! of this test binary, each run as a process.
#![cfg(target_os = "linux")]

mod assembler;
#[macro_use]
mod client;
mod environment;
mod exits;
mod nvidia_smi;
mod nvml;
mod processes;
mod report;
#[path = "../shared/run.rs"]
mod run;
mod support;
