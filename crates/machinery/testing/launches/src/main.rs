//! Runs the launches listed in a file one after the other, each with buffers of its own.
//!
//!     cargo run -p launches -- plan.json
//!
//! prints one line of JSON per launch: a hash of each buffer's final contents, and on the simulator the
//! counters under Nsight Compute's names. `plan.rs` defines the file's format; `scripts/held-out` writes such
//! a file.

mod plan;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs the launches listed in a file, on the GPU or the simulator.
#[derive(Debug, Parser)]
struct Flags {
    /// The file: JSON in the format defined by crates/machinery/testing/launches/src/plan.rs
    plan: PathBuf,
    /// Run only the launches with this label
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    common::error::exit(run::run_all(&flags.plan, flags.only.as_deref()))
}
