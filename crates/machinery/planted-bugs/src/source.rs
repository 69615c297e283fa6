//! The kernels' sources, and the marks in them: which lines a report has to name.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A file of `kernels/bugs`.
#[derive(Debug)]
pub struct Source {
    /// Its name without folder and ending, as `misaligned-float4`.
    pub name: &'static str,
    /// Its path in the checkout, as `kernels/bugs/misaligned-float4.cu`.
    pub file: &'static str,
    /// What is written there.
    pub text: &'static str,
    /// What was made of it.
    pub ptx: &'static str,
}

/// All of them, sorted by name.
pub const SOURCES: &[Source] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Which check has to find a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An access outside what was allocated, or one that is not aligned.
    Mem,
    /// A read of what nobody wrote.
    Init,
    /// Two accesses in no order.
    Race,
    /// A barrier, or another instruction of several threads, to which not all come.
    Sync,
    /// Memory that nobody frees.
    Leak,
    /// Memory of the host's that it uses while work in a stream still does.
    Host,
}

impl Kind {
    /// Whether the mistake is the host's: no line of a kernel is in a report, nor in the PTX.
    pub fn is_of_host(self) -> bool {
        matches!(self, Kind::Leak | Kind::Host)
    }
}

impl FromStr for Kind {
    type Err = MarkError;

    fn from_str(word: &str) -> Result<Self, MarkError> {
        Ok(match word {
            "mem" => Kind::Mem,
            "init" => Kind::Init,
            "race" => Kind::Race,
            "sync" => Kind::Sync,
            "leak" => Kind::Leak,
            "host" => Kind::Host,
            _ => return Err(MarkError::Kind(word.to_owned())),
        })
    }
}

/// What the marks of a source say. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Of what kind the mistake is.
    pub kind: Kind,
    /// Lines that end in `// BUG: KIND`: a report names one of them.
    pub lines: Vec<usize>,
    /// Lines that end in `// with this`: the other access of a race.
    pub with: Vec<usize>,
}

/// What is wrong with a source's marks.
#[derive(Debug, PartialEq, Eq)]
pub enum MarkError {
    /// No line is marked.
    None,
    /// Not the name of a kind.
    Kind(String),
    /// Marks of two kinds.
    Two(Kind, Kind),
}

impl fmt::Display for MarkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkError::None => write!(f, "no line ends in `// BUG: KIND`"),
            MarkError::Kind(word) => {
                write!(
                    f,
                    "`// BUG: {word}`: no kind; mem, init, race, sync, leak, host"
                )
            }
            MarkError::Two(one, other) => {
                write!(
                    f,
                    "marks of two kinds, {one:?} and {other:?}; one mistake a file"
                )
            }
        }
    }
}

impl Error for MarkError {}

/// Reads the marks of a source's `text`.
///
/// # Errors
///
/// Where there are none, of several kinds, or of a kind that there is not.
pub fn marks(text: &str) -> Result<Marks, MarkError> {
    let mut kind = None;
    let (mut lines, mut with) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, word)) = line.split_once("// BUG: ") {
            let this = word.trim_end().parse()?;
            match kind {
                Some(before) if before != this => return Err(MarkError::Two(before, this)),
                _ => kind = Some(this),
            }
            lines.push(number);
        } else if line.trim_end().ends_with("// with this") {
            with.push(number);
        }
    }
    let kind = kind.ok_or(MarkError::None)?;
    Ok(Marks { kind, lines, with })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_from_line_one() {
        let text = "a; // with this\nb; // BUG: race\r\nc;\nd; // BUG: race\n";
        let found = Marks {
            kind: Kind::Race,
            lines: vec![2, 4],
            with: vec![1],
        };
        assert_eq!(marks(text), Ok(found));
    }

    #[test]
    fn marks_that_say_nothing_are_refused() {
        assert_eq!(marks("a;\n"), Err(MarkError::None));
        let refused = marks("a; // BUG: speed\n").unwrap_err().to_string();
        assert!(refused.contains("speed"), "{refused}");
        let refused = marks("a; // BUG: mem\nb; // BUG: init\n");
        assert_eq!(refused, Err(MarkError::Two(Kind::Mem, Kind::Init)));
    }
}
