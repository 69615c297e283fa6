//! Runs one planted bug, or its correct twin, on the GPU or the simulator.
//!
//!     cargo run -p planted-bugs -- no-bounds-check
//!     cargo run -p planted-bugs -- no-bounds-check --right
//!     cargo run -p planted-bugs -- --list
//!
//! It says nothing but what the GPU or the simulator has to say. To have compute-sanitizer watch
//! all of them, see `scripts/checks`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use planted_bugs::cases::{self, Case};
use planted_bugs::run;

/// Kernels with one mistake each, for the checks to find.
#[derive(Debug, Parser)]
struct Flags {
    /// The mistake, as --list has it under `name`
    #[arg(required_unless_present = "list")]
    case: Option<String>,
    /// Run its correct twin
    #[arg(long)]
    right: bool,
    /// Print all cases as JSON: name, kind, file, and the lines that a report has to name
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
            let unknown = || format!("there is no case `{name}`; --list prints those there are");
            run::run(case.with_context(unknown)?, flags.right)
        }
    }
}
