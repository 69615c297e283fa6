//! Instructions. Source: PTX ISA sections 4.2.2 and 9.3 (predicated execution).

use winnow::combinator::{cut_err, repeat, separated};
use winnow::prelude::*;

use super::operand;
use crate::ptx::ast::{Guard, Instruction, SourceLocation};
use crate::ptx::rejection::{After, Parsed, Rejection};
use crate::ptx::take::{dotted, expect, peek, skip_symbol, symbol, word};
use crate::ptx::token::{TokenKind, Tokens};

/// Parses an instruction such as `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`.
pub(super) fn instruction<'s>(
    input: &mut Tokens<'_, 's>,
    location: Option<SourceLocation>,
) -> Parsed<'s, Instruction<'s>> {
    let guard = guard(input)?;
    let line = peek(input).line;
    let mnemonic = mnemonic(input)?;
    let modifiers = repeat(0.., dotted).parse_next(input)?;
    let operand = if mnemonic == "call" {
        operand::in_call
    } else {
        operand::operand
    };
    let operands = if operand::starts(input) {
        separated(1.., cut_err(operand), symbol(',')).parse_next(input)?
    } else {
        Vec::new()
    };
    expect(';')
        .context(After("the operands of", mnemonic))
        .parse_next(input)?;
    Ok(Instruction {
        guard,
        mnemonic,
        modifiers,
        operands,
        line,
        location,
    })
}

/// Parses a guard, `@%p1` or `@!%p1`, if there is one.
fn guard<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Option<Guard<'s>>> {
    if !skip_symbol(input, '@') {
        return Ok(None);
    }
    let negated = skip_symbol(input, '!');
    let register = cut_err(word).parse_next(input)?;
    Ok(Some(Guard { register, negated }))
}

fn mnemonic<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let next = peek(input);
    if next.kind == TokenKind::Word
        && next
            .text
            .starts_with(|first: char| first.is_ascii_lowercase())
    {
        word(input)
    } else {
        Rejection::demand(input, "an instruction")
    }
}
