//! The table of what was measured, as Markdown.

use anyhow::Result;
use std::fmt::Write as _;

use crate::double::{self, Known};
use crate::exact;
use crate::functions::{Bound, FUNCTIONS, Function, Range};
use crate::machine::Machine;
use crate::single;
use crate::ulps::Measured;
use std::collections::BTreeMap;

/// A function and what was measured of it.
pub struct Row {
    pub function: Function,
    pub single: Measured,
    pub double: Option<Measured>,
}

/// Measures all functions, floats at about so many points.
pub fn all(table: &BTreeMap<String, Known>, count: usize) -> Result<Vec<Row>> {
    let (mut floats, mut doubles) = (Machine::single()?, Machine::double()?);
    FUNCTIONS
        .iter()
        .map(|function| {
            Ok(Row {
                function: *function,
                single: single::measure(&mut floats, &mut doubles, function, count)?,
                double: double::measure(&mut doubles, table, function)?,
            })
        })
        .collect()
}

impl Row {
    /// What is not as documented, in words.
    pub fn complaints(&self) -> Vec<String> {
        let name = self.function.single_name();
        let mut all = complaints(&name, &self.single, self.function.single);
        if let Some(measured) = &self.double {
            all.extend(complaints(
                self.function.name,
                measured,
                self.function.double,
            ));
        }
        all
    }
}

fn complaints(name: &str, measured: &Measured, bound: Bound) -> Vec<String> {
    if measured.keeps(bound) {
        return Vec::new();
    }
    let told = |what: &str, (arguments, result, expected): &(Vec<f64>, f64, f64)| {
        format!("{name}{arguments:?} is {result:e}, not {expected:e}: {what}")
    };
    let mut all: Vec<String> = measured
        .wrong
        .iter()
        .take(5)
        .map(|case| told("no distance", case))
        .collect();
    if let Some(worst) = &measured.worst {
        let what = format!(
            "{} ulps, {:.2e}; {bound:?}",
            measured.ulps, measured.absolute
        );
        all.push(told(&what, worst));
    }
    if measured.count == 0 {
        all.push(format!("{name}: nothing was measured"));
    }
    all
}

/// The table.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| Function | Range | float: documented | float: measured | double: documented | double: measured |\n\
         | :--- | :--- | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let Function { single, double, .. } = row.function;
        let measured = |measured: &Measured, bound| match bound {
            Bound::Absolute(_) => format!("{:.1e} absolute", measured.absolute),
            Bound::Ulps(_) | Bound::Unknown => measured.ulps.to_string(),
        };
        let doubles = row.double.as_ref();
        let doubles = doubles.map_or("-".into(), |found| measured(found, double));
        let singles = measured(&row.single, single);
        let name = row.function.name.replacen("_first", ", sine", 1);
        let name = name.replacen("_second", ", cosine", 1);
        let (range, single, double) = (
            range(row.function.range),
            documented(single),
            documented(double),
        );
        let _ = writeln!(
            text,
            "| {name} | {range} | {single} | {singles} | {double} | {doubles} |"
        );
    }
    text
}

/// What is said of the functions without an error, of which so many results were compared.
pub fn exact(compared: usize) -> String {
    let names = exact::names().join("`, `");
    format!(
        "These have no error, and none was found in {compared} results: `{names}`; \
         so have those of floats."
    )
}

fn documented(bound: Bound) -> String {
    match bound {
        Bound::Ulps(most) => most.to_string(),
        Bound::Absolute(most) => format!("{most:.1e} absolute"),
        Bound::Unknown => "-".into(),
    }
}

fn range(range: Range) -> &'static str {
    match range {
        Range::All => "all",
        Range::Near => "below 8",
        Range::Far => "from 8 on",
        Range::WithoutZeros => "not -23.0001 to -2.2637",
        Range::Order => "above 1.5 n",
    }
}
