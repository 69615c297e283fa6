//! Compiles a CUDA program with clang and runs it on the GPU or the simulator. Also runs an existing program
//! that loads the CUDA driver library, on the simulator.
//!
//!     cargo run -p cuda-run -- program.cu -- its arguments
//!     cargo run -p cuda-run -- -- any-program its arguments
//!
//! | module | contents |
//! |---|---|
//! | [`flags`], [`nvcc`] | the command line, including nvcc's flags |
//! | [`compile`] | compilation of source files to a shared library or to PTX |
//! | [`run`] | compiling and running a program, and explaining why it does not load |
//! | [`formats`] | the report in machine-readable formats |
//! | [`child`] | the program's own process, which loads the library and calls its `main`; its progress on a terminal |
//! | [`nvrtc`] | compilation by the program while it runs |
//! | [`nvtx`] | annotations of the program's host code |
//! | [`supervise`] | the parent process, which starts the child, waits for it and stops it |
//! | [`plan`] | kernels without a host program, launched by a launch plan |
//! | [`external`] | running programs that were not compiled here; the driver library and the assembler that they find |
//! | [`nvidia_smi`] | the `nvidia-smi` that they find |
//!
//! The crate `telemetry` contains the events passed between the processes and the final report.

mod child;
mod compile;
mod external;
mod flags;
mod formats;
mod nvcc;
mod nvidia_smi;
#[cfg(unix)]
mod nvrtc;
#[cfg(unix)]
mod nvtx;
mod plan;
mod run;
mod supervise;

use std::process;

use chapter::interrupt;
use common::error::{describe, note};

/// Exit status for an invalid command line, the same as clap's.
const USAGE: i32 = 2;

fn main() {
    sim_compiler::install();
    let args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == child::SUBCOMMAND) {
        child::main(&args);
    }
    if external::is_called_as_ptxas(&args) {
        process::exit(external::ptxas_main(&args));
    }
    if nvidia_smi::is_called(&args) {
        process::exit(nvidia_smi::main(&args));
    }
    let args = nvcc::translate(args).unwrap_or_else(|reason| {
        note(format_args!("error: {reason}"));
        process::exit(USAGE);
    });
    let flags = flags::Flags::parse_args(args);
    let status = if flags.files.is_empty() {
        external::run(&flags)
    } else {
        interrupt::install("interrupted").and_then(|()| run::run(&flags))
    };
    if interrupt::is_shutting_down() {
        interrupt::wait_for_exit();
    }
    process::exit(status.unwrap_or_else(|error| {
        note(format_args!("error: {}", describe(&error)));
        run::FAILURE
    }));
}
