//! The tokens of PTX and the rules that take one of them.

use winnow::ModalResult;
use winnow::error::ErrMode;
use winnow::prelude::*;
use winnow::stream::{Stream, TokenSlice};

use super::error::{Fault, What};

/// A piece of PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub kind: Kind,
    /// As it stands in the source: with its dot, its quotes.
    pub text: &'s str,
    /// Bytes from the start of the source.
    pub start: usize,
    /// Line in the source, from 1.
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `add`, `%rd1`, `%tid.x`, `$L__BB0_1`, `_`
    Word,
    /// `.global`, `.shared::cta`, `.v2`: directives, types and modifiers look alike.
    Dotted,
    /// `5`, `0x1fU`, `0f3F800000`, `6.4`
    Number,
    /// `"k.cu"`
    Text,
    /// One of `( ) { } [ ] < > , ; : = @ ! ~ + - * / % & | ^`
    Symbol(char),
    /// The end of the source: the last token, and there is always one.
    End,
}

pub(super) type Tokens<'t, 's> = TokenSlice<'t, Token<'s>>;

/// What a rule of the grammar returns.
pub(super) type Parsed<'s, T> = ModalResult<T, Fault<'s>>;

/// The next token, which stays where it is.
pub(super) fn peek<'s>(input: &Tokens<'_, 's>) -> Token<'s> {
    let end = Token {
        kind: Kind::End,
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
            kind: Kind::Dotted,
            text,
            ..
        } => text.strip_prefix('.'),
        _ => None,
    }
}

/// Whether the next token is this symbol.
pub(super) fn at_symbol(input: &Tokens<'_, '_>, symbol: char) -> bool {
    peek(input).kind == Kind::Symbol(symbol)
}

fn take<'s>(input: &mut Tokens<'_, 's>, kind: Kind, what: What) -> Parsed<'s, &'s str> {
    let token = peek(input);
    if token.kind == kind {
        skip(input);
        Ok(token.text)
    } else {
        Err(ErrMode::Backtrack(Fault::expected(input, what)))
    }
}

/// Takes this symbol.
pub(super) fn symbol<'t, 's: 't>(
    wanted: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Fault<'s>>> {
    move |input: &mut Tokens<'t, 's>| take(input, Kind::Symbol(wanted), What::Symbol(wanted))
}

/// Takes a name.
pub(super) fn word<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, Kind::Word, What::Phrase("a name"))
}

/// Takes a dotted token and returns it without its dot.
pub(super) fn dotted<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let text = take(input, Kind::Dotted, What::Phrase("a directive"))?;
    Ok(text.strip_prefix('.').unwrap_or(text))
}

/// Takes a number and returns its text.
pub(super) fn number<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    take(input, Kind::Number, What::Phrase("a number"))
}

/// Takes a string and returns what stands between its quotes, escapes as written.
pub(super) fn text<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let quoted = take(input, Kind::Text, What::Phrase("a string in double quotes"))?;
    Ok(quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(quoted))
}

/// Takes nothing but this symbol: any other token is final.
pub(super) fn expect<'t, 's: 't>(
    wanted: char,
) -> impl Parser<Tokens<'t, 's>, &'s str, ErrMode<Fault<'s>>> {
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
