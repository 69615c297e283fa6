//! Runs launches that a file lists, one after the other, each with memory of its own.
//!
//!     cargo run -p launches -- plan.json
//!
//! prints a line of JSON for each: a hash of what each of its buffers holds in the end, and on the
//! simulator what was counted, by Nsight Compute's names. How the file is written is in `plan.rs`;
//! `scripts/held-out` writes one.

mod plan;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs launches that a file lists, on the GPU or the simulator.
#[derive(Debug, Parser)]
struct Flags {
    /// The file: JSON, as crates/machinery/launches/src/plan.rs says
    plan: PathBuf,
    /// Only the launches of this name
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    common::error::exit(run::all(&flags.plan, flags.only.as_deref()))
}
