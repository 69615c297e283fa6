//! Prints how large the errors of the device mathematics are:
//!
//!     cargo run -p mathematics                 against the values that are there
//!     cargo run -p mathematics -- --page       the same, as docs/results/mathematics.md
//!     cargo run -p mathematics -- FILE POINTS  against those in a file; floats at so many points

use anyhow::{Result, ensure};
use mathematics::{double, exact, machine::Machine, report};
use std::{env, fs};

/// At how many points floats are measured, unless it is said.
const POINTS: usize = 20_000;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1).peekable();
    if arguments.next_if_eq("--page").is_some() {
        print!("{}", include_str!("page.md"));
    }
    let table = match arguments.next() {
        Some(file) => double::known(&fs::read_to_string(file)?)?,
        None => double::known(double::VALUES)?,
    };
    let points = arguments
        .next()
        .map_or(Ok(POINTS), |points| points.parse())?;
    let rows = report::all(&table, points)?;
    print!("{}", report::markdown(&rows));
    let (wrong, compared) =
        exact::measure(&mut Machine::single()?, &mut Machine::double()?, points / 4)?;
    let complaints: Vec<String> = rows.iter().flat_map(report::Row::complaints).collect();
    let differing: Vec<String> = wrong.iter().map(|wrong| format!("{wrong:?}")).collect();
    let all = [complaints, differing].concat();
    ensure!(all.is_empty(), "not as documented:\n{}", all.join("\n"));
    println!("\n{}", report::exact(compared));
    Ok(())
}
