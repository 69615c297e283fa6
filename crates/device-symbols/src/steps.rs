//! The steps of the chapter: each copy is timed, verified and added to the report, which also has the variables themselves,
//! as a table and in the record.

use std::fmt::Debug;

use anyhow::Result;
use chapter::lang::Lang;
use chapter::report::{Details, Extra};
use chapter::text::{self, or_dash};
use chapter::{Chapter, Entry};
use common::timing::Measured;
use common::verify::{Comparison, POISON, compare};
use cust::memory::bytemuck::{self, Pod};
use serde::Serialize;

use crate::values::LENGTH;
use crate::variable::Variable;

/// The chapter's columns: the bytes that a copy moves; empty for a kernel.
#[derive(Debug, Serialize)]
pub struct CopyDetails {
    symbol: Option<String>,
    bytes: Option<u64>,
    offset: Option<u64>,
}

/// Copies `values` to `symbol` from byte `offset` on, like `cudaMemcpyToSymbol`, and then verifies all of the
/// symbol, including the bytes around the part.
///
/// # Errors
///
/// Fails if the part does not fit, or CUDA reports an error.
pub fn to_symbol<T: Pod>(
    chapter: &Chapter,
    step: &str,
    symbol: &mut Variable,
    values: &[T],
    offset: u64,
) -> Result<()> {
    let values = bytemuck::cast_slice::<T, u8>(values);
    symbol.copy_from(&vec![POISON; values.len()], offset)?;
    let mut expected = symbol.contents()?;
    expected[offset as usize..][..values.len()].copy_from_slice(values);

    let measured = chapter.measure(step, || symbol.copy_from(values, offset))?;
    let check = compare(&symbol.contents()?, &expected, |actual, expected| {
        actual == expected
    });
    let verdict = check.verdict(|index| format!("byte {index} of {}", symbol.name()));
    let entry = Entry::new(step, measured, verdict);
    chapter.add(entry.with(|_| CopyDetails::new(symbol, values.len(), offset)));
    Ok(())
}

/// Copies as many values as `expected` has from `symbol`, starting at byte `offset`, like
/// `cudaMemcpyFromSymbol`, and verifies them.
///
/// # Errors
///
/// Fails if the part does not fit, or CUDA reports an error.
pub fn from_symbol<T: Pod + Debug + PartialEq>(
    chapter: &Chapter,
    step: &str,
    symbol: &Variable,
    expected: &[T],
    offset: u64,
) -> Result<()> {
    let mut values = vec![T::zeroed(); expected.len()];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).fill(POISON);

    let measured = chapter.measure(step, || symbol.copy_to(&mut values, offset))?;
    let check = compare(&values, expected, |actual, expected| actual == expected);
    let verdict = check.verdict(|index| format!("element {index} from {}", symbol.name()));
    let entry = Entry::new(step, measured, verdict);
    chapter.add(entry.with(|_| CopyDetails::new(symbol, size_of_val(expected), offset)));
    Ok(())
}

/// Returns the result of a kernel, whose time is not compared with a copy's; `element_name` describes an
/// element.
pub fn launched(
    kernel: &str,
    measured: Measured,
    check: Comparison<f32>,
    element_name: fn(usize) -> String,
) -> Entry {
    let nothing = CopyDetails {
        symbol: None,
        bytes: None,
        offset: None,
    };
    Entry::new(kernel, measured, check.verdict(element_name))
        .with(|_| nothing)
        .separate()
}

impl CopyDetails {
    fn new(symbol: &Variable, bytes: usize, offset: u64) -> Self {
        CopyDetails {
            symbol: Some(symbol.name().to_owned()),
            bytes: Some(bytes as u64),
            offset: Some(offset),
        }
    }
}

impl Details for CopyDetails {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(&["symbol", "bytes", "offset"], &["符号", "字节数", "偏移"])
    }

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        [self.symbol.clone(), number(self.bytes), number(self.offset)]
            .map(or_dash)
            .to_vec()
    }
}

/// All variables.
#[derive(Debug, Serialize)]
pub struct Symbols {
    symbols: [Summary; 3],
}

/// A variable: its address, its kind of memory and its value.
#[derive(Debug, Serialize)]
struct Summary {
    name: String,
    memory: &'static str,
    bytes: u64,
    address: String,
    holds: String,
}

impl Symbols {
    /// Summarizes the three variables with their current values.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn of(array: &Variable, scalar: &Variable, pointer: &Variable) -> Result<Self> {
        let mut value = [0.0_f32];
        scalar.copy_to(&mut value, 0)?;
        let mut address = [0_u64];
        pointer.copy_to(&mut address, 0)?;
        let symbols = [
            Summary::new(array, "constant", format!("{LENGTH} floats")),
            Summary::new(scalar, "global", value[0].to_string()),
            Summary::new(pointer, "global", format!("{:#x}", address[0])),
        ];
        Ok(Symbols { symbols })
    }
}

impl Summary {
    fn new(variable: &Variable, memory: &'static str, holds: String) -> Self {
        Summary {
            name: variable.name().to_owned(),
            memory,
            bytes: variable.bytes(),
            address: format!("{:p}", variable.address()),
            holds,
        }
    }
}

impl Extra for Symbols {
    /// Returns a table with one row per variable.
    fn tables(&self, lang: Lang) -> Vec<String> {
        let headers = lang.pick(
            ["symbol", "memory", "bytes", "device address", "value"],
            ["符号", "存储空间", "字节数", "设备地址", "值"],
        );
        let rows = self.symbols.iter().map(|symbol| {
            vec![
                symbol.name.clone(),
                symbol.memory.to_owned(),
                symbol.bytes.to_string(),
                symbol.address.clone(),
                symbol.holds.clone(),
            ]
        });
        vec![text::table(&headers, rows)]
    }
}
