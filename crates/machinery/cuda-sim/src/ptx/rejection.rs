//! Why a rule of the grammar does not fit the tokens at hand.

use winnow::ModalResult;
use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::stream::Stream;

use super::error::{ParseError, Problem};
use super::token::{Token, Tokens};

/// Expectation a rule of the grammar returns.
pub(super) type Parsed<'s, T> = ModalResult<T, Rejection<'s>>;

/// A failed rule of the grammar. Cheap to make, because rules that are merely tried fail often;
/// it becomes a [`ParseError`] only when nothing else fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rejection<'s> {
    /// How many tokens were left, the offending one included.
    remaining: usize,
    reason: Reason<'s>,
}

/// Why a rule does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason<'s> {
    Expected {
        what: Expectation,
        after: Option<After<'s>>,
    },
    Refused(&'static str),
}

/// What the grammar would have taken instead of the token that it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    Symbol(char),
    /// Words that say what, with their article: "a name".
    Phrase(&'static str),
}

/// What stands before the place where something was expected: `After("the operands of", "add")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct After<'s>(pub &'static str, pub &'s str);

impl<'s> Rejection<'s> {
    /// Something else than the next token belongs here.
    pub fn expected(input: &Tokens<'_, 's>, what: Expectation) -> Self {
        let reason = Reason::Expected { what, after: None };
        Self {
            remaining: input.eof_offset(),
            reason,
        }
    }

    /// The next token is what cannot be accepted, and no other reading is to be tried.
    pub fn refuse<T>(input: &Tokens<'_, 's>, why: &'static str) -> Result<T, ErrMode<Self>> {
        let reason = Reason::Refused(why);
        Err(ErrMode::Cut(Self {
            remaining: input.eof_offset(),
            reason,
        }))
    }

    /// Nothing but `what` may stand here.
    pub fn demand<T>(input: &Tokens<'_, 's>, what: &'static str) -> Result<T, ErrMode<Self>> {
        Err(ErrMode::Cut(Self::expected(
            input,
            Expectation::Phrase(what),
        )))
    }

    /// The error as a reader gets it, with its place in the source.
    pub fn locate(self, source: &str, tokens: &[Token<'_>]) -> ParseError {
        let token = &tokens[tokens.len() - self.remaining.clamp(1, tokens.len())];
        let problem = match self.reason {
            Reason::Refused(why) => Problem::Refused(why),
            Reason::Expected { what, after } => {
                let what = match what {
                    Expectation::Symbol(symbol) => format!("`{symbol}`"),
                    Expectation::Phrase(phrase) => phrase.to_owned(),
                };
                Problem::Expected(match after {
                    Some(After(place, name)) => format!("{what} after {place} `{name}`"),
                    None => what,
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
        place: After<'s>,
    ) -> Self {
        if let Reason::Expected { after, .. } = &mut self.reason {
            after.get_or_insert(place);
        }
        self
    }
}
