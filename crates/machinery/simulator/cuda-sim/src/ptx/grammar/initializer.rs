//! Initializers. Source: PTX ISA section 5.4.4.

use winnow::combinator::cut_err;
use winnow::prelude::*;

use super::constant::{addend, constant};
use super::literal::ConstantValue;
use super::{MAX_NESTING, TOO_DEEP, constant};
use crate::ptx::ast::{Initializer, Variable};
use crate::ptx::rejection::{After, Parsed, Rejection};
use crate::ptx::take::{at_symbol, expect, peek, skip_symbol, word};
use crate::ptx::token::{TokenKind, Tokens};

const INVALID_BYTE_MASK: &str = "the mask before an address must select one byte: 0xff, 0xff00, …";

/// Parses an initializer into `variable.init`, and sets the first dimension of the array if it was omitted.
pub(super) fn initializer<'s>(
    input: &mut Tokens<'_, 's>,
    variable: &mut Variable<'s>,
) -> Parsed<'s, ()> {
    if !at_symbol(input, '{') {
        variable.init.push(value(input)?);
        return Ok(());
    }
    let vector = u64::from(variable.vector);
    let rows = row_lengths(&variable.dims, vector);
    braces(input, &rows, &mut variable.init, MAX_NESTING)?;
    if let (Some(first @ 0), Some(&row)) = (variable.dims.first_mut(), rows.first()) {
        *first = (variable.init.len() as u64).div_ceil(row.max(1));
    }
    Ok(())
}

/// Returns the number of values in one row of each dimension: `[12, 4]` for `.v4` values in `[2][3]`.
fn row_lengths(dims: &[u64], vector: u64) -> Vec<u64> {
    let mut length = vector;
    let mut rows = vec![0; dims.len()];
    for (row, &size) in rows.iter_mut().zip(dims).rev() {
        *row = length;
        length = length.saturating_mul(size);
    }
    rows
}

/// Parses `{1, 2}` or `{{1, 2}, {3}}`. Only the last row may be incomplete: padding incomplete rows would let
/// a short text demand any amount of memory.
fn braces<'s>(
    input: &mut Tokens<'_, 's>,
    rows: &[u64],
    values: &mut Vec<Initializer<'s>>,
    levels: u32,
) -> Parsed<'s, ()> {
    let Some(levels) = levels.checked_sub(1) else {
        return Rejection::refuse(input, TOO_DEEP);
    };
    expect('{').parse_next(input)?;
    if skip_symbol(input, '}') {
        return Ok(());
    }
    loop {
        if at_symbol(input, '{') {
            let (row, before) = (*input, values.len());
            let [row_length, inner @ ..] = rows else {
                return Rejection::refuse(&row, "the array has fewer dimensions than this");
            };
            braces(input, inner, values, levels)?;
            let actual = (values.len() - before) as u64;
            if actual > *row_length {
                return Rejection::refuse(&row, "this row has more values than the array");
            }
            if actual < *row_length && at_symbol(input, ',') {
                return Rejection::refuse(&row, "only the last row may be incomplete");
            }
        } else {
            values.push(value(input)?);
        }
        if !skip_symbol(input, ',') {
            return expect('}').void().parse_next(input);
        }
    }
}

fn value<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Initializer<'s>> {
    if !constant::starts(input) {
        return address(input, None);
    }
    let start = *input;
    let value = constant(input)?;
    if !skip_symbol(input, '(') {
        return Ok(Initializer::Value(value.immediate()));
    }
    let mask = match value {
        ConstantValue::Int { bits, .. } if is_byte(bits) => bits,
        _ => return Rejection::refuse(&start, INVALID_BYTE_MASK),
    };
    let address = address(input, Some(mask))?;
    expect(')').parse_next(input)?;
    Ok(address)
}

/// Returns true if the mask selects one byte of a 64-bit word.
fn is_byte(mask: u64) -> bool {
    (0..8).any(|byte| mask == 0xff << (8 * byte))
}

/// Parses `name+4` or `generic(name)+4`.
fn address<'s>(input: &mut Tokens<'_, 's>, mask: Option<u64>) -> Parsed<'s, Initializer<'s>> {
    if peek(input).kind != TokenKind::Word {
        return Rejection::demand(input, "a value");
    }
    let start = *input;
    let name = word(input)?;
    if !skip_symbol(input, '(') {
        return Ok(Initializer::Address {
            symbol: name,
            addend: addend(input)?,
            generic: false,
            mask,
        });
    }
    if name != "generic" {
        return Rejection::refuse(&start, "the only operator on addresses is `generic`");
    }
    let symbol = cut_err(word).parse_next(input)?;
    expect(')')
        .context(After("the variable", symbol))
        .parse_next(input)?;
    Ok(Initializer::Address {
        symbol,
        addend: addend(input)?,
        generic: true,
        mask,
    })
}
