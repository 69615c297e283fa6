//! Rejections: the reason why a grammar rule does not match, from which syntax errors are made.

use winnow::ModalResult;
use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::stream::Stream;

use super::error::{ParseError, Problem};
use super::token::{Token, Tokens};

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
pub(super) enum Expectation {
    Symbol(char),
    /// A description with its article, such as "a name".
    Phrase(&'static str),
}

/// The context that precedes the failure, for example `After("the operands of", "add")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct After<'s>(pub &'static str, pub &'s str);

impl<'s> Rejection<'s> {
    /// Creates a failure: a different token was expected.
    pub fn expected(input: &Tokens<'_, 's>, expectation: Expectation) -> Self {
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
