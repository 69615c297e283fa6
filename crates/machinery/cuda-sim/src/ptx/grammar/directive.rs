//! Directives about the source and for the assembler: PTX ISA sections 11.4 (`.pragma`) and 11.5
//! (debugging directives).

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant::unsigned;
use crate::ptx::ast::SourceLocation;
use crate::ptx::rejection::{After, Parsed, Rejection};
use crate::ptx::take;
use crate::ptx::take::{dotted, expect, number, peek, skip, skip_symbol, symbol, word};
use crate::ptx::token::{TokenKind, Tokens};

/// `.file 1 "kernels/k.cu", 1700000000, 1234`: the time stamp and the size are dropped.
pub(super) fn file<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, String)> {
    dotted(input)?;
    let index = unsigned(input)?;
    let path = cut_err(take::text).parse_next(input)?;
    while skip_symbol(input, ',') {
        cut_err(number).parse_next(input)?;
    }
    Ok((index, unescape(path)))
}

/// Takes back the escapes of LLVM's assembly writer: `\\`, `\"` and bytes as `\303`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return String::from_utf8_lossy(&bytes).into_owned(),
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', quoted @ (b'\\' | b'"'), rest @ ..] => {
                bytes.push(*quoted);
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        }
    }
}

/// `.loc 1 5 3`, where `, function_name …, inlined_at 1 20 9` may follow: the place is that of the
/// inlined code, and its caller's is dropped.
pub(super) fn location<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    dotted(input)?;
    let place = place(input)?;
    while skip_symbol(input, ',') {
        let attribute = *input;
        match cut_err(word).parse_next(input)? {
            "function_name" => {
                cut_err(word).parse_next(input)?;
                if skip_symbol(input, '+') {
                    unsigned(input)?;
                }
            }
            "inlined_at" => drop(self::place(input)?),
            _ => return Rejection::demand(&attribute, "`function_name` or `inlined_at`"),
        }
    }
    Ok(place)
}

/// File, line and column.
fn place<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    Ok(SourceLocation {
        file: unsigned(input)?,
        line: unsigned(input)?,
        column: unsigned(input)?,
    })
}

/// `.section .debug_abbrev { … }`, skipped.
pub(super) fn section<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    let Ok(name) = dotted(input) else {
        return Rejection::demand(input, "the name of the section");
    };
    expect('{')
        .context(After("the section", name))
        .parse_next(input)?;
    let mut open = 1_usize;
    while open > 0 {
        match peek(input).kind {
            TokenKind::Symbol('{') => open += 1,
            TokenKind::Symbol('}') => open -= 1,
            TokenKind::End => {
                return expect('}')
                    .context(After("the section", name))
                    .void()
                    .parse_next(input);
            }
            _ => {}
        }
        skip(input);
    }
    Ok(())
}

/// `.attribute(.managed, .unified(1, 2))`, skipped: memory that the host reaches too is like any other here.
pub(super) fn attribute<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    let start = *input;
    expect('(')
        .context(After("the directive", ".attribute"))
        .parse_next(input)?;
    let mut open = 1_usize;
    while open > 0 {
        match peek(input).kind {
            TokenKind::Symbol('(') => open += 1,
            TokenKind::Symbol(')') => open -= 1,
            TokenKind::Symbol(',') | TokenKind::Number => {}
            TokenKind::Dotted if ATTRIBUTES.contains(&peek(input).text) => {}
            TokenKind::End => return Rejection::refuse(&start, "this is not closed"),
            _ => return Rejection::demand(input, "`.managed` or `.unified(…)`"),
        }
        skip(input);
    }
    Ok(())
}

const ATTRIBUTES: [&str; 2] = [".managed", ".unified"];

/// `.pragma "nounroll", …;`: advice to an assembler, skipped.
pub(super) fn pragma<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    separated::<_, _, (), _, _, _, _>(1.., cut_err(take::text), symbol(',')).parse_next(input)?;
    expect(';')
        .context(After("the strings of", ".pragma"))
        .void()
        .parse_next(input)
}
