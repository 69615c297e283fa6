//! Operands. Source: PTX ISA section 6.4.

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant;
use super::constant::{addend, constant};
use super::literal::ConstantValue;
use crate::ptx::ast::{AddressBase, Operand};
use crate::ptx::rejection::{Parsed, Rejection};
use crate::ptx::take::{at_symbol, expect, peek, skip, skip_symbol, symbol, word};
use crate::ptx::token::{TokenKind, Tokens};

/// Returns true if an operand can start here.
pub(super) fn starts(input: &Tokens<'_, '_>) -> bool {
    constant::starts(input)
        || matches!(
            peek(input).kind,
            TokenKind::Word | TokenKind::Symbol('[' | '{')
        )
}

/// Parses any operand except for the lists of a call.
pub(super) fn operand<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    match peek(input).kind {
        TokenKind::Symbol('[') => address(input),
        TokenKind::Symbol('{') => Ok(Operand::Vector(enclosed(input, '{', '}')?)),
        TokenKind::Symbol('!')
            if input
                .get(1)
                .is_some_and(|next| next.kind == TokenKind::Word) =>
        {
            skip(input);
            Ok(Operand::Not(word(input)?))
        }
        _ => {
            let first = scalar(input)?;
            if at_symbol(input, '|') {
                pair(input, first)
            } else {
                Ok(first)
            }
        }
    }
}

/// Parses an operand of `call`, in which parentheses enclose results or arguments instead of a constant
/// expression.
pub(super) fn in_call<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    if at_symbol(input, '(') {
        Ok(Operand::List(enclosed(input, '(', ')')?))
    } else {
        operand(input)
    }
}

fn enclosed<'s>(
    input: &mut Tokens<'_, 's>,
    open: char,
    close: char,
) -> Parsed<'s, Vec<Operand<'s>>> {
    expect(open).parse_next(input)?;
    if skip_symbol(input, close) {
        return Ok(Vec::new());
    }
    let scalars = separated(1.., cut_err(scalar), symbol(',')).parse_next(input)?;
    expect(close).parse_next(input)?;
    Ok(scalars)
}

/// Parses `%r1`, `table+4`, `table[2]`, `-5` or `_`.
fn scalar<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    if constant::starts(input) {
        return Ok(Operand::Immediate(constant(input)?.immediate()));
    }
    match word(input) {
        Ok("_") => Ok(Operand::Sink),
        Ok(array) if at_symbol(input, '[') => array_element(input, array),
        Ok(name) => Ok(Operand::Name {
            name,
            offset: addend(input)?,
        }),
        Err(_) => Rejection::demand(input, "an operand"),
    }
}

/// Parses the `[2]` after the name of an array.
fn array_element<'s>(input: &mut Tokens<'_, 's>, array: &'s str) -> Parsed<'s, Operand<'s>> {
    expect('[').parse_next(input)?;
    let start = *input;
    if !constant::starts(input) {
        return Rejection::refuse(
            &start,
            "an array index must be a constant; add a register to the address instead",
        );
    }
    let ConstantValue::Int { bits, .. } = constant(input)? else {
        return Rejection::refuse(&start, "an array index must be an integer");
    };
    expect(']').parse_next(input)?;
    let index = bits.cast_signed();
    Ok(Operand::ArrayElement { array, index })
}

/// Parses the remainder of `%p1|%p2`. Either name may be `_`.
fn pair<'s>(input: &mut Tokens<'_, 's>, first: Operand<'s>) -> Parsed<'s, Operand<'s>> {
    let first = match first {
        Operand::Name { name, offset: 0 } => name,
        Operand::Sink => "_",
        _ => return Rejection::demand(input, "`,` or `;`"),
    };
    expect('|').parse_next(input)?;
    Ok(Operand::Pair(first, cut_err(word).parse_next(input)?))
}

/// Parses `[%rd1+8]`, `[table]` or `[1024]`.
fn address<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    expect('[').parse_next(input)?;
    let start = *input;
    let (base, offset) = if constant::starts(input) {
        let ConstantValue::Int { bits, .. } = constant(input)? else {
            return Rejection::refuse(&start, "an address must be an integer");
        };
        (AddressBase::Absolute, bits.cast_signed())
    } else {
        match word(input) {
            Ok(name) => (AddressBase::Name(name), addend(input)?),
            Err(_) => return Rejection::demand(input, "an address"),
        }
    };
    if at_symbol(input, ',') {
        return texel(input, base, offset);
    }
    expect(']').parse_next(input)?;
    Ok(Operand::Address { base, offset })
}

/// Parses the coordinates of a texture or surface after its name: `, {%f1, %f2}]`, or a single one without
/// braces.
fn texel<'s>(
    input: &mut Tokens<'_, 's>,
    base: AddressBase<'s>,
    offset: i64,
) -> Parsed<'s, Operand<'s>> {
    let AddressBase::Name(image) = base else {
        return Rejection::refuse(
            input,
            "texture coordinates must follow the texture's handle",
        );
    };
    if offset != 0 {
        return Rejection::refuse(input, "a texture handle cannot have an offset");
    }
    expect(',').parse_next(input)?;
    let coordinates = match at_symbol(input, '{') {
        true => enclosed(input, '{', '}')?,
        false => vec![scalar(input)?],
    };
    if at_symbol(input, ',') {
        return Rejection::refuse(
            input,
            "separate samplers and tensor coordinates are not supported",
        );
    }
    expect(']').parse_next(input)?;
    Ok(Operand::TextureCoordinates { image, coordinates })
}
