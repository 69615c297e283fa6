//! What can be wrong with PTX text, and where.

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
