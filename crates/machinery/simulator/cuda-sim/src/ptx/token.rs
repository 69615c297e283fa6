//! The tokens of PTX.

use winnow::stream::TokenSlice;

/// A token of PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub kind: TokenKind,
    /// The token as written, including its dot or quotes.
    pub text: &'s str,
    /// The byte offset of the token in the source.
    pub start: usize,
    /// The line in the source, counted from 1.
    pub line: u32,
}

/// The kind of a token, determined by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name: `add`, `%rd1`, `%tid.x`, `$L__BB0_1`, `_`.
    Word,
    /// A dotted name: `.global`, `.shared::cta`, `.v2`. Directives, types and modifiers look alike.
    Dotted,
    /// A numeric literal: `5`, `0x1fU`, `0f3F800000`, `6.4`.
    Number,
    /// A string: `"k.cu"`.
    Text,
    /// One of `( ) { } [ ] < > , ; : = @ ! ~ + - * / % & | ^`.
    Symbol(char),
    /// The end of the source, which is always the last token.
    End,
}

pub(super) type Tokens<'t, 's> = TokenSlice<'t, Token<'s>>;
