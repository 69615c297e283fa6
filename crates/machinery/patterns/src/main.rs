//! Draws the book's figures, or answers as the book's interactive page does.
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
        /// Only say whether those there are what would be drawn
        #[arg(long)]
        check: bool,
    },
    /// Run a pattern, as the book's interactive page does: space=global|read-only|shared|constant
    /// order=rows|columns|one|random element=1|2|4|8|16 block=32x1 pitch=512 stride=1 offset=0
    /// lang=en|zh
    Ask {
        pattern: Vec<String>,
        /// Print all that the page gets, its drawing included; warp=N says of which warp
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    match start(&Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(command: &Command) -> Result<()> {
    match command {
        Command::Ask { pattern, json } => {
            let question = pattern.join("&");
            let answer = match json {
                true => page::json(&question),
                false => page::text(&question).map_err(Error::msg)?,
            };
            println!("{answer}");
        }
        Command::Figures { folder, check } => {
            let files = figures::all()?;
            if !check {
                return figures::write(folder, &files);
            }
            let stale = figures::stale(folder, &files)?;
            if !stale.is_empty() {
                bail!(
                    "not what is drawn today: {}; scripts/figures draws them",
                    stale.join(", ")
                );
            }
        }
    }
    Ok(())
}
