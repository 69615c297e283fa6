//! Debugging directives and assembler hints. Source: PTX ISA sections 11.4 (`.pragma`) and 11.5 (debugging
//! directives).

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant::unsigned;
use crate::ptx::ast::SourceLocation;
use crate::ptx::lexer::{TokenKind, Tokens};
use crate::ptx::parser;
use crate::ptx::parser::{
    After, Parsed, Rejection, dotted, expect, number, peek, skip, skip_symbol, symbol, word,
};

/// Parses `.file 1 "kernels/k.cu", 1700000000, 1234`. The time stamp and the size are ignored.
pub(super) fn file<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, String)> {
    dotted(input)?;
    let index = unsigned(input)?;
    let path = cut_err(parser::text).parse_next(input)?;
    while skip_symbol(input, ',') {
        cut_err(number).parse_next(input)?;
    }
    Ok((index, unescape(path)))
}

/// Reverses the escapes of LLVM's assembly writer: `\\`, `\"` and octal bytes such as `\303`.
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

/// Parses `.loc 1 5 3`, optionally followed by `, function_name …, inlined_at 1 20 9`. The result is the
/// location of the inlined code; the location of its caller is ignored.
pub(super) fn location<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    dotted(input)?;
    let file_line_column = file_line_column(input)?;
    while skip_symbol(input, ',') {
        let attribute = *input;
        match cut_err(word).parse_next(input)? {
            "function_name" => {
                cut_err(word).parse_next(input)?;
                if skip_symbol(input, '+') {
                    unsigned(input)?;
                }
            }
            "inlined_at" => drop(self::file_line_column(input)?),
            _ => return Rejection::demand(&attribute, "`function_name` or `inlined_at`"),
        }
    }
    Ok(file_line_column)
}

/// Parses a file index, a line and a column.
fn file_line_column<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    Ok(SourceLocation {
        file: unsigned(input)?,
        line: unsigned(input)?,
        column: unsigned(input)?,
    })
}

/// Skips `.section .debug_abbrev { … }`.
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

/// Parses `.attribute(.managed, .unified(1, 2))`, and returns true if it contains `.managed`.
pub(super) fn attribute<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, bool> {
    dotted(input)?;
    let mut is_managed = false;
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
            TokenKind::Dotted if peek(input).text == ".managed" => is_managed = true,
            TokenKind::Dotted if peek(input).text == ".unified" => {}
            TokenKind::End => return Rejection::refuse(&start, "this is not closed"),
            _ => return Rejection::demand(input, "`.managed` or `.unified(…)`"),
        }
        skip(input);
    }
    Ok(is_managed)
}

/// Skips `.pragma "nounroll", …;`, which is a hint to the assembler.
pub(super) fn pragma<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    separated::<_, _, (), _, _, _, _>(1.., cut_err(parser::text), symbol(',')).parse_next(input)?;
    expect(';')
        .context(After("the strings of", ".pragma"))
        .void()
        .parse_next(input)
}
