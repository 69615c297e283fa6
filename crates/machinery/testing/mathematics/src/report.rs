//! The measured errors as a Markdown table.

use anyhow::Result;
use std::fmt::Write as _;

use crate::device::Device;
use crate::double_error::{self, ReferenceValues};
use crate::exact;
use crate::float_error;
use crate::functions::{Bound, FUNCTIONS, Function, Range};
use crate::ulps::ErrorStatistics;
use std::collections::BTreeMap;

/// A function and its measured errors.
pub struct Row {
    pub function: Function,
    pub single: ErrorStatistics,
    pub double: Option<ErrorStatistics>,
}

/// Measures all functions, floats at about `count` points.
pub fn measure_all(table: &BTreeMap<String, ReferenceValues>, count: usize) -> Result<Vec<Row>> {
    let (mut floats, mut doubles) = (Device::single()?, Device::double()?);
    FUNCTIONS
        .iter()
        .map(|function| {
            Ok(Row {
                function: *function,
                single: float_error::measure(&mut floats, &mut doubles, function, count)?,
                double: double_error::measure(&mut doubles, table, function)?,
            })
        })
        .collect()
}

impl Row {
    /// Describes results that violate the documented bounds.
    pub fn violations(&self) -> Vec<String> {
        let name = self.function.single_name();
        let mut list = violations(&name, &self.single, self.function.single);
        if let Some(error) = &self.double {
            list.extend(violations(self.function.name, error, self.function.double));
        }
        list
    }
}

fn violations(name: &str, error: &ErrorStatistics, bound: Bound) -> Vec<String> {
    if error.is_within(bound) {
        return Vec::new();
    }
    let describe = |reason: &str, (arguments, result, expected): &(Vec<f64>, f64, f64)| {
        format!("{name}{arguments:?} is {result:e}, expected {expected:e}: {reason}")
    };
    let mut list: Vec<String> = error
        .wrong
        .iter()
        .take(5)
        .map(|case| describe("wrong kind of number", case))
        .collect();
    if let Some(worst) = &error.worst {
        let reason = format!("{} ulps, {:.2e}; {bound:?}", error.ulps, error.absolute);
        list.push(describe(&reason, worst));
    }
    if error.count == 0 {
        list.push(format!("{name}: no result was compared"));
    }
    list
}

/// Formats the table.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| Function | Range | float: documented | float: measured | double: documented | double: measured |\n\
         | :--- | :--- | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let Function { single, double, .. } = row.function;
        let format_error = |error: &ErrorStatistics, bound| match bound {
            Bound::Absolute(_) => format!("{:.1e} absolute", error.absolute),
            Bound::Ulps(_) | Bound::Unknown => error.ulps.to_string(),
        };
        let double_error = row.double.as_ref();
        let double_error_text =
            double_error.map_or("-".into(), |error| format_error(error, double));
        let float_error_text = format_error(&row.single, single);
        let name = row.function.name.replacen("_first", ", sine", 1);
        let name = name.replacen("_second", ", cosine", 1);
        let (range, single, double) = (
            range(row.function.range),
            documented(single),
            documented(double),
        );
        let _ = writeln!(
            text,
            "| {name} | {range} | {single} | {float_error_text} | {double} | {double_error_text} |"
        );
    }
    text
}

/// Formats the note on the exact functions, of which `compared` results were checked.
pub fn exact_note(compared: usize) -> String {
    let names = exact::names().join("`, `");
    format!(
        "These functions are exact, as are their float versions; no error was found in {compared} results: \
         `{names}`."
    )
}

fn documented(bound: Bound) -> String {
    match bound {
        Bound::Ulps(max) => max.to_string(),
        Bound::Absolute(max) => format!("{max:.1e} absolute"),
        Bound::Unknown => "-".into(),
    }
}

fn range(range: Range) -> &'static str {
    match range {
        Range::All => "all",
        Range::Near => "below 8",
        Range::Far => "8 and above",
        Range::WithoutZeros => "except -23.0001 to -2.2637",
        Range::Order => "above 1.5 n",
    }
}
