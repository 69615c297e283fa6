//! Runs one planted bug, or its correct twin, on the GPU or the simulator.
//!
//!     cargo run -p planted-bugs -- no-bounds-check
//!     cargo run -p planted-bugs -- no-bounds-check --right
//!     cargo run -p planted-bugs -- --list
//!
//! The program prints nothing itself: all output comes from the GPU or the simulator. `scripts/checks`
//! runs all cases under compute-sanitizer.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use planted_bugs::cases::{self, Case};
use planted_bugs::run;

/// Runs kernels with one planted bug each, to test checkers.
#[derive(Debug, Parser)]
struct Flags {
    /// Name of the case, as printed by --list under `name`
    #[arg(required_unless_present = "list")]
    case: Option<String>,
    /// Run the correct twin
    #[arg(long)]
    right: bool,
    /// Print all cases as JSON: name, kind, file, and the lines that a report must name
    #[arg(long, conflicts_with_all = ["case", "right"])]
    list: bool,
}

fn main() -> ExitCode {
    common::error::exit(start(&Flags::parse()))
}

fn start(flags: &Flags) -> Result<()> {
    let all = cases::all();
    match &flags.case {
        None => {
            let entries: Vec<_> = all.iter().map(Case::entry).collect();
            println!("{}", serde_json::to_string_pretty(&entries)?);
            Ok(())
        }
        Some(name) => {
            let case = all.iter().find(|case| case.source.name == name);
            let unknown = || format!("there is no case `{name}`; --list prints all cases");
            run::run(case.with_context(unknown)?, flags.right)
        }
    }
}
