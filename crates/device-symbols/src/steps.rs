//! The chapter's steps: each copy is timed, checked and added to the report.

use std::fmt::Debug;

use anyhow::Result;
use chapter::report::Details;
use chapter::report::table::or_dash;
use chapter::{Chapter, Entry};
use common::timing::Measured;
use common::verify::{Comparison, POISON, compare};
use cust::memory::bytemuck::{self, Pod};
use serde::Serialize;

use crate::variable::Variable;

/// What the table says of a step beside its time: which bytes a copy copies, nothing for a kernel.
#[derive(Debug, Serialize)]
pub struct Copied {
    symbol: Option<String>,
    bytes: Option<u64>,
    offset: Option<u64>,
}

/// Copies `values` to `symbol`, from byte `offset` on, as `cudaMemcpyToSymbol` does; then all of the
/// symbol has to be right, what is around the part too.
///
/// # Errors
///
/// Where the part does not fit, and CUDA's own.
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
    let check = compare(&symbol.contents()?, &expected, |got, want| got == want);
    let verdict = check.verdict(|index| format!("byte {index} of {}", symbol.name()));
    let entry = Entry::new(step, measured, verdict);
    chapter.add(entry.with(|_| Copied::new(symbol, values.len(), offset)));
    Ok(())
}

/// Copies as many values as `expected` has from `symbol`, from byte `offset` on, as
/// `cudaMemcpyFromSymbol` does; they have to be those.
///
/// # Errors
///
/// Where the part does not fit, and CUDA's own.
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
    let check = compare(&values, expected, |got, want| got == want);
    let verdict = check.verdict(|index| format!("element {index} from {}", symbol.name()));
    let entry = Entry::new(step, measured, verdict);
    chapter.add(entry.with(|_| Copied::new(symbol, size_of_val(expected), offset)));
    Ok(())
}

/// What came of a kernel, whose time is compared with no copy's; `place` names an element.
pub fn launched(
    kernel: &str,
    measured: Measured,
    check: Comparison<f32>,
    place: fn(usize) -> String,
) -> Entry {
    let nothing = Copied {
        symbol: None,
        bytes: None,
        offset: None,
    };
    Entry::new(kernel, measured, check.verdict(place))
        .with(|_| nothing)
        .apart()
}

impl Copied {
    fn new(symbol: &Variable, bytes: usize, offset: u64) -> Self {
        Copied {
            symbol: Some(symbol.name().to_owned()),
            bytes: Some(bytes as u64),
            offset: Some(offset),
        }
    }
}

impl Details for Copied {
    fn columns(&self) -> &'static [&'static str] {
        &["symbol", "bytes", "offset"]
    }

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        [self.symbol.clone(), number(self.bytes), number(self.offset)]
            .map(or_dash)
            .to_vec()
    }
}
