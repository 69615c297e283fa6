//! Building blocks of the grammar: the results of its rules, and rules that inspect or consume one token.

use winnow::ModalResult;
use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::Stream;

use super::lexer::{Token, TokenKind, Tokens};
use super::{ParseError, Problem};

/// The result of a grammar rule.
pub(super) type Parsed<'s, T> = ModalResult<T, Rejection<'s>>;

/// The failure of a grammar rule. It is cheap to create, because alternatives fail often; it is converted to a
/// [`ParseError`] only if no alternative matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rejection<'s> {
    /// The number of remaining tokens, including the offending one.
    remaining: usize,
    reason: Reason<'s>,
}

/// The reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason<'s> {
    Expected {
        expectation: Expectation,
        after: Option<After<'s>>,
    },
    Refused(&'static str),
}

/// The token or construct that the grammar expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expectation {
    Symbol(char),
    /// A description with its article, such as "a name".
    Phrase(&'static str),
}

/// The context that precedes the failure, for example `After("the operands of", "add")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct After<'s>(pub &'static str, pub &'s str);

impl<'s> Rejection<'s> {
    /// Creates a failure: a different token was expected.
    fn expected(input: &Tokens<'_, 's>, expectation: Expectation) -> Self {
        let reason = Reason::Expected {
            expectation,
            after: None,
        };
        Self {
            remaining: input.eof_offset(),
            reason,
        }
    }

    /// Refuses the next token. The parser does not try other alternatives.
    pub fn refuse<T>(input: &Tokens<'_, 's>, message: &'static str) -> Result<T, ErrMode<Self>> {
        let reason = Reason::Refused(message);
        Err(ErrMode::Cut(Self {
            remaining: input.eof_offset(),
            reason,
        }))
    }

    /// Fails with an expectation. The parser does not try other alternatives.
    pub fn demand<T>(
        input: &Tokens<'_, 's>,
        expectation: &'static str,
    ) -> Result<T, ErrMode<Self>> {
        Err(ErrMode::Cut(Self::expected(
            input,
            Expectation::Phrase(expectation),
        )))
    }

    /// Converts the failure to an error with its location in the source.
    pub fn locate(self, source: &str, tokens: &[Token<'_>]) -> ParseError {
        let token = &tokens[tokens.len() - self.remaining.clamp(1, tokens.len())];
        let problem = match self.reason {
            Reason::Refused(message) => Problem::Refused(message),
            Reason::Expected { expectation, after } => {
                let expectation = match expectation {
                    Expectation::Symbol(symbol) => format!("`{symbol}`"),
                    Expectation::Phrase(phrase) => phrase.to_owned(),
                };
                Problem::Expected(match after {
                    Some(After(context, name)) => format!("{expectation} after {context} `{name}`"),
                    None => expectation,
                })
            }
        };
        ParseError::at(source, token.start, token.text, problem)
    }
}

impl<'t, 's> ParserError<Tokens<'t, 's>> for Rejection<'s> {
    type Inner = Self;

    fn from_input(input: &Tokens<'t, 's>) -> Self {
        Self::expected(input, Expectation::Phrase("PTX"))
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

impl<'t, 's> AddContext<Tokens<'t, 's>, After<'s>> for Rejection<'s> {
    fn add_context(
        mut self,
        _input: &Tokens<'t, 's>,
        _start: &<Tokens<'t, 's> as Stream>::Checkpoint,
        context: After<'s>,
    ) -> Self {
        if let Reason::Expected { after, .. } = &mut self.reason {
            after.get_or_insert(context);
        }
        self
    }
}

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
