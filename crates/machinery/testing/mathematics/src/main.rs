//! Prints the errors of the device mathematics:
//!
//!     cargo run -p mathematics                 relative to the included reference values
//!     cargo run -p mathematics -- --page       as the page docs/results/mathematics.md
//!     cargo run -p mathematics -- FILE POINTS  relative to the values in a file; floats at this many points

use anyhow::{Result, ensure};
use mathematics::functions::Device;
use mathematics::{errors, exact};
use std::{env, fs};

/// The default number of points at which floats are measured.
const POINTS: usize = 20_000;

fn main() -> Result<()> {
    let mut args = env::args().skip(1).peekable();
    if args.next_if_eq("--page").is_some() {
        print!("{}", include_str!("page.md"));
    }
    let table = match args.next() {
        Some(file) => errors::parse_table(&fs::read_to_string(file)?)?,
        None => errors::parse_table(errors::VALUES)?,
    };
    let points = args.next().map_or(Ok(POINTS), |points| points.parse())?;
    let rows = errors::measure_all(&table, points)?;
    print!("{}", errors::markdown(&rows));
    let (wrong, compared) =
        exact::measure(&mut Device::single()?, &mut Device::double()?, points / 4)?;
    let violations: Vec<String> = rows.iter().flat_map(errors::Row::violations).collect();
    let differences: Vec<String> = wrong.iter().map(|wrong| format!("{wrong:?}")).collect();
    let failures = [violations, differences].concat();
    ensure!(
        failures.is_empty(),
        "results differ from the documentation:\n{}",
        failures.join("\n")
    );
    println!("\n{}", errors::exact_note(compared));
    Ok(())
}
