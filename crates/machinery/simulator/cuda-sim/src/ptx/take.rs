//! Token-level rules of the grammar, which inspect or consume one token.

use winnow::error::ErrMode;
use winnow::prelude::*;
use winnow::stream::Stream;

use super::rejection::{Expectation, Parsed, Rejection};
use super::token::{Token, TokenKind, Tokens};

/// Returns the next token without consuming it.
pub(super) fn peek<'s>(input: &Tokens<'_, 's>) -> Token<'s> {
    let end = Token {
        kind: TokenKind::End,
        text: "",
        start: 0,
        line: 0,
    };
    input.first().copied().unwrap_or(end)
}

/// Returns the name of the next token if it is dotted: `global` for `.global`.
pub(super) fn peek_dotted<'s>(input: &Tokens<'_, 's>) -> Option<&'s str> {
    match peek(input) {
        Token {
            kind: TokenKind::Dotted,
            text,
            ..
        } => text.strip_prefix('.'),
        _ => None,
    }
}

/// Returns true if the next token is this symbol.
pub(super) fn at_symbol(input: &Tokens<'_, '_>, symbol: char) -> bool {
    peek(input).kind == TokenKind::Symbol(symbol)
}

/// Consumes the next token if it is of this kind, and returns its text.
fn take<'s>(
    input: &mut Tokens<'_, 's>,
    kind: TokenKind,
    expectation: Expectation,
) -> Parsed<'s, &'s str> {
    let token = peek(input);
    if token.kind == kind {
        skip(input);
        Ok(token.text)
    } else {
        Err(ErrMode::Backtrack(Rejection::expected(input, expectation)))
    }
}

/// Consumes this symbol.
pub(super) fn symbol<'t, 's: 't>(
    symbol_char: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Rejection<'s>>> {
    move |input: &mut Tokens<'t, 's>| {
        take(
            input,
            TokenKind::Symbol(symbol_char),
            Expectation::Symbol(symbol_char),
        )
    }
}

/// Consumes a name.
pub(super) fn word<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, TokenKind::Word, Expectation::Phrase("a name"))
}

/// Consumes a dotted token and returns it without its dot.
pub(super) fn dotted<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let text = take(input, TokenKind::Dotted, Expectation::Phrase("a directive"))?;
    Ok(text.strip_prefix('.').unwrap_or(text))
}

/// Consumes a number and returns its text.
pub(super) fn number<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, TokenKind::Number, Expectation::Phrase("a number"))
}

/// Consumes a string and returns its contents, with escapes as written.
pub(super) fn text<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let quoted = take(
        input,
        TokenKind::Text,
        Expectation::Phrase("a string in double quotes"),
    )?;
    Ok(quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(quoted))
}

/// Consumes this symbol. Any other token is an error without alternatives.
pub(super) fn expect<'t, 's: 't>(
    symbol_char: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Rejection<'s>>> {
    winnow::combinator::cut_err(symbol(symbol_char))
}

/// Consumes the next token if it is dotted and has this name. Returns true if it did.
pub(super) fn skip_dotted(input: &mut Tokens<'_, '_>, name: &str) -> bool {
    let matches = peek_dotted(input) == Some(name);
    if matches {
        skip(input);
    }
    matches
}

/// Consumes the next token if it is this symbol. Returns true if it did.
pub(super) fn skip_symbol(input: &mut Tokens<'_, '_>, symbol: char) -> bool {
    let matches = at_symbol(input, symbol);
    if matches {
        skip(input);
    }
    matches
}

/// Consumes the next token.
pub(super) fn skip(input: &mut Tokens<'_, '_>) {
    input.next_token();
}
