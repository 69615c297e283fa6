//! The tokens of PTX.

use winnow::stream::TokenSlice;

/// A piece of PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub kind: TokenKind,
    /// The text of the token as it stands in the source, its dot or quotes included.
    pub text: &'s str,
    /// Where the token begins, in bytes from the start of the source.
    pub start: usize,
    /// Line in the source, from 1.
    pub line: u32,
}

/// What a token is, as far as its first characters tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
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
