//! The PTX parser. It is purely syntactic: it does not know what instructions do.
//!
//! The text is split into tokens ([`lexer`]), and the tokens are parsed into a tree ([`grammar`]). Both run
//! in linear time and memory and do not trust their input: for any bytes, the result is a tree or a
//! [`ParseError`].

pub mod ast;
mod grammar;
mod lexer;
mod link;
mod parser;

pub use link::{LinkError, check_definitions, link};

/// Parses a PTX module. Names in the tree borrow from `source`.
///
/// Trailing zero bytes are ignored, because C strings include them. Debug sections are skipped; `.loc`
/// locations are attached to the instructions that follow them.
///
/// # Errors
///
/// Returns the first location where the text is not valid PTX, or uses a feature that the simulator does not
/// support (such as separate samplers or 32-bit addresses).
pub fn parse(source: &str) -> Result<ast::Module<'_>, ParseError> {
    let source = source.trim_end_matches('\0');
    let tokens = lexer::tokens(source)?;
    grammar::module(&tokens).map_err(|fault| fault.locate(source, &tokens))
}

/// The first syntax error in a PTX text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}", .problem.sentence(.found))]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1 in characters.
    pub column: u32,
    /// The offending text as written, shortened if long; empty at the end of the text.
    pub found: String,
    pub problem: Problem,
}

/// The kind of a syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A different token was expected, for example "`;` after the operands of `add`".
    Expected(String),
    /// The text may be valid PTX but is not accepted, for the given reason.
    Refused(&'static str),
}

impl Problem {
    /// Returns the description of the problem with the text `found`.
    pub fn sentence(&self, found: &str) -> String {
        let found = match found {
            "" => "the end of the text".to_owned(),
            text => format!("`{}`", text.escape_debug()),
        };
        match self {
            Self::Expected(expectation) => format!("expected {expectation}, found {found}"),
            Self::Refused(reason) => format!("cannot read {found}: {reason}"),
        }
    }
}

impl ParseError {
    /// Maximum number of characters of the offending text that are quoted.
    const MAX_QUOTE_CHARS: usize = 40;

    /// Creates the error for the text `found`, which starts at byte `offset` of `source`.
    pub(super) fn at(source: &str, offset: usize, found: &str, problem: Problem) -> Self {
        let before = &source[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut quote: String = found.chars().take(Self::MAX_QUOTE_CHARS).collect();
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

#[cfg(test)]
pub(crate) mod tests;
