//! The smallest rules of the grammar: each looks at one token or takes it.

use winnow::error::ErrMode;
use winnow::prelude::*;
use winnow::stream::Stream;

use super::rejection::{Expectation, Parsed, Rejection};
use super::token::{Token, TokenKind, Tokens};

/// The next token, which stays where it is.
pub(super) fn peek<'s>(input: &Tokens<'_, 's>) -> Token<'s> {
    let end = Token {
        kind: TokenKind::End,
        text: "",
        start: 0,
        line: 0,
    };
    input.first().copied().unwrap_or(end)
}

/// The name of the next token if it is dotted: `global` for `.global`.
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

/// Whether the next token is this symbol.
pub(super) fn at_symbol(input: &Tokens<'_, '_>, symbol: char) -> bool {
    peek(input).kind == TokenKind::Symbol(symbol)
}

/// Takes the next token, if it is of this kind, and returns its text.
fn take<'s>(input: &mut Tokens<'_, 's>, kind: TokenKind, what: Expectation) -> Parsed<'s, &'s str> {
    let token = peek(input);
    if token.kind == kind {
        skip(input);
        Ok(token.text)
    } else {
        Err(ErrMode::Backtrack(Rejection::expected(input, what)))
    }
}

/// Takes this symbol.
pub(super) fn symbol<'t, 's: 't>(
    wanted: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Rejection<'s>>> {
    move |input: &mut Tokens<'t, 's>| {
        take(
            input,
            TokenKind::Symbol(wanted),
            Expectation::Symbol(wanted),
        )
    }
}

/// Takes a name.
pub(super) fn word<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, TokenKind::Word, Expectation::Phrase("a name"))
}

/// Takes a dotted token and returns it without its dot.
pub(super) fn dotted<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let text = take(input, TokenKind::Dotted, Expectation::Phrase("a directive"))?;
    Ok(text.strip_prefix('.').unwrap_or(text))
}

/// Takes a number and returns its text.
pub(super) fn number<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, TokenKind::Number, Expectation::Phrase("a number"))
}

/// Takes a string and returns what stands between its quotes, escapes as written.
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

/// Takes nothing but this symbol: any other token is final.
pub(super) fn expect<'t, 's: 't>(
    wanted: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Rejection<'s>>> {
    winnow::combinator::cut_err(symbol(wanted))
}

/// Takes the dotted token of this name, dot not counted, if it is next.
pub(super) fn skip_dotted(input: &mut Tokens<'_, '_>, name: &str) -> bool {
    let found = peek_dotted(input) == Some(name);
    if found {
        skip(input);
    }
    found
}

/// Takes this symbol if it is next.
pub(super) fn skip_symbol(input: &mut Tokens<'_, '_>, symbol: char) -> bool {
    let found = at_symbol(input, symbol);
    if found {
        skip(input);
    }
    found
}

/// Takes the next token, whatever it is.
pub(super) fn skip(input: &mut Tokens<'_, '_>) {
    input.next_token();
}
