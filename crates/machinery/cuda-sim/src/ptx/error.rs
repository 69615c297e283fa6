//! What can be wrong with PTX text, and where.

use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::stream::Stream;

use super::token::{Token, Tokens};

/// The first place in a PTX text that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}", .problem.sentence(.found))]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The offending text as it stands in the source, shortened if long; empty at the end.
    pub found: String,
    pub problem: Problem,
}

/// Why a text could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Something else belongs here, for example "`;` after the operands of `add`".
    Expected(String),
    /// It may be PTX, but it cannot be accepted; the text says why.
    Refused(&'static str),
}

impl Problem {
    fn sentence(&self, found: &str) -> String {
        let found = match found {
            "" => "the end of the text".to_owned(),
            text => format!("`{}`", text.escape_debug()),
        };
        match self {
            Self::Expected(what) => format!("expected {what}, found {found}"),
            Self::Refused(why) => format!("cannot read {found}: {why}"),
        }
    }
}

impl ParseError {
    /// The offending text is quoted up to this many characters.
    const LONGEST_QUOTE: usize = 40;

    /// A problem with the text `found`, which starts `offset` bytes into `source`.
    pub(super) fn at(source: &str, offset: usize, found: &str, problem: Problem) -> Self {
        let before = &source[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut quote: String = found.chars().take(Self::LONGEST_QUOTE).collect();
        if quote.len() < found.len() {
            quote.push('…');
        }
        Self {
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
            found: quote,
            problem,
        }
    }
}

/// A failed rule of the grammar. Cheap to make, because rules that are merely tried fail often;
/// it becomes a [`ParseError`] only when nothing else fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault<'s> {
    /// How many tokens were left, the offending one included.
    remaining: usize,
    reason: Reason<'s>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason<'s> {
    Expected {
        what: What,
        after: Option<After<'s>>,
    },
    Refused(&'static str),
}

/// What the grammar wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Symbol(char),
    /// In words, with its article: "a name".
    Phrase(&'static str),
}

/// Where it wanted it: `After("the operands of", "add")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct After<'s>(pub &'static str, pub &'s str);

impl<'s> Fault<'s> {
    pub fn expected(input: &Tokens<'_, 's>, what: What) -> Self {
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
        Err(ErrMode::Cut(Self::expected(input, What::Phrase(what))))
    }

    pub fn locate(self, source: &str, tokens: &[Token<'_>]) -> ParseError {
        let token = &tokens[tokens.len() - self.remaining.clamp(1, tokens.len())];
        let problem = match self.reason {
            Reason::Refused(why) => Problem::Refused(why),
            Reason::Expected { what, after } => {
                let what = match what {
                    What::Symbol(symbol) => format!("`{symbol}`"),
                    What::Phrase(phrase) => phrase.to_owned(),
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

impl<'t, 's> ParserError<Tokens<'t, 's>> for Fault<'s> {
    type Inner = Self;

    fn from_input(input: &Tokens<'t, 's>) -> Self {
        Self::expected(input, What::Phrase("PTX"))
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

impl<'t, 's> AddContext<Tokens<'t, 's>, After<'s>> for Fault<'s> {
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
