//! Prints the errors of the device mathematics:
//!
//!     cargo run -p mathematics                 relative to the included reference values
//!     cargo run -p mathematics -- --page       as the page docs/results/mathematics.md
//!     cargo run -p mathematics -- FILE POINTS  relative to the values in a file; floats at this many points

use anyhow::{Result, ensure};
use mathematics::{device::Device, double_error, exact, report};
use std::{env, fs};

/// The default number of points at which floats are measured.
const POINTS: usize = 20_000;

fn main() -> Result<()> {
    let mut args = env::args().skip(1).peekable();
    if args.next_if_eq("--page").is_some() {
        print!("{}", include_str!("page.md"));
    }
    let table = match args.next() {
        Some(file) => double_error::parse_table(&fs::read_to_string(file)?)?,
        None => double_error::parse_table(double_error::VALUES)?,
    };
    let points = args.next().map_or(Ok(POINTS), |points| points.parse())?;
    let rows = report::measure_all(&table, points)?;
    print!("{}", report::markdown(&rows));
    let (wrong, compared) =
        exact::measure(&mut Device::single()?, &mut Device::double()?, points / 4)?;
    let violations: Vec<String> = rows.iter().flat_map(report::Row::violations).collect();
    let differences: Vec<String> = wrong.iter().map(|wrong| format!("{wrong:?}")).collect();
    let failures = [violations, differences].concat();
    ensure!(
        failures.is_empty(),
        "results differ from the documentation:\n{}",
        failures.join("\n")
    );
    println!("\n{}", report::exact_note(compared));
    Ok(())
}
