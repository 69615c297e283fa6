//! What the chapter tells of the variables themselves, as a table and in the record.

use common::report::{self, Report};
use serde::Serialize;

use crate::flags::Inputs;
use crate::steps::Copied;
use crate::variable::Variable;

/// One variable.
#[derive(Debug, Serialize)]
pub struct Summary {
    name: String,
    memory: &'static str,
    bytes: u64,
    address: String,
    holds: String,
}

/// What is printed with `--json`: the report, and the variables beside it.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    /// Every step.
    #[serde(flatten)]
    pub report: &'a Report<Inputs, Copied>,
    /// Every variable.
    pub symbols: &'a [Summary],
}

impl Summary {
    /// Where `variable` is, which kind of memory that is, and what it `holds`.
    pub fn new(variable: &Variable, memory: &'static str, holds: String) -> Self {
        Summary {
            name: variable.name().to_owned(),
            memory,
            bytes: variable.bytes(),
            address: format!("{:p}", variable.address()),
            holds,
        }
    }
}

/// One line a variable.
pub fn table(symbols: &[Summary]) -> String {
    let headers = [
        "symbol",
        "memory",
        "bytes",
        "address on the device",
        "holds",
    ];
    let rows = symbols.iter().map(|symbol| {
        vec![
            symbol.name.clone(),
            symbol.memory.to_owned(),
            symbol.bytes.to_string(),
            symbol.address.clone(),
            symbol.holds.clone(),
        ]
    });
    report::table(&headers, rows)
}
