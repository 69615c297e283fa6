//! Draws the book's figures, or runs one access pattern and prints the counters that the book's
//! interactive page shows.
//!
//!     cargo run -p patterns -- figures docs/figures
//!     cargo run -p patterns -- ask space=shared order=columns pitch=128

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result, bail};
use clap::Parser;
use patterns::{figures, page};

/// Access patterns on the simulator.
#[derive(Debug, Parser)]
enum Command {
    /// Draw the book's figures into a folder
    Figures {
        folder: PathBuf,
        /// Only check whether the figures in the folder are current
        #[arg(long)]
        check: bool,
    },
    /// Run an access pattern, as the book's interactive page does: space=global|read-only|shared|constant
    /// order=rows|columns|one|random element=1|2|4|8|16 block=32x1 pitch=512 stride=1 offset=0
    /// lang=en|zh
    Ask {
        pattern: Vec<String>,
        /// Print the JSON that the page receives, including the drawing; warp=N selects the drawn warp
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    match run(&Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Ask { pattern, json } => {
            let query = pattern.join("&");
            let output = if *json {
                page::json(&query)
            } else {
                page::text(&query).map_err(Error::msg)?
            };
            println!("{output}");
        }
        Command::Figures { folder, check } => {
            let files = figures::all()?;
            if !check {
                return figures::write(folder, &files);
            }
            let stale = figures::stale(folder, &files)?;
            if !stale.is_empty() {
                bail!(
                    "out of date: {}; run scripts/figures to redraw them",
                    stale.join(", ")
                );
            }
        }
    }
    Ok(())
}
