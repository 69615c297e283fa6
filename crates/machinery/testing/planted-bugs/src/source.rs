//! The kernels' sources, and the marks in them that name the lines a report must give.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A file of `kernels/bugs`.
#[derive(Debug)]
pub struct Source {
    /// The file name without folder and extension, for example `misaligned-float4`.
    pub name: &'static str,
    /// The path in the checkout, for example `kernels/bugs/misaligned-float4.cu`.
    pub file: &'static str,
    /// The CUDA C++ source.
    pub text: &'static str,
    /// The PTX compiled from `text`.
    pub ptx: &'static str,
}

impl Source {
    /// Returns the name of the kernel with the bug: the file's name with underscores.
    pub fn kernel(&self) -> String {
        let name = self.name.split('.').next().unwrap_or_default();
        name.replace('-', "_")
    }

    /// Returns the name of the correct kernel: the kernel itself if the bug is in the host code.
    pub fn twin(&self) -> String {
        let twin = format!("{}_right", self.kernel());
        if self.text.contains(&format!("void {twin}(")) {
            twin
        } else {
            self.kernel()
        }
    }
}

/// All sources, sorted by name.
pub const SOURCES: &[Source] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The check that has to find a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An out-of-bounds or misaligned access.
    Mem,
    /// A read of uninitialized memory.
    Init,
    /// A data race.
    Race,
    /// A barrier or another collective instruction that some threads never reach.
    Sync,
    /// Memory that is never freed.
    Leak,
    /// Host memory that the host uses while work in a stream still uses it.
    Host,
}

impl Kind {
    /// Returns true if the bug is in the host code: neither a report nor the PTX then has a line of a kernel.
    pub fn is_host_bug(self) -> bool {
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
            _ => return Err(MarkError::UnknownKind(word.to_owned())),
        })
    }
}

/// The marks of a source. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// The kind of bug.
    pub kind: Kind,
    /// Lines that end in `// BUG: KIND`. A report names one of them.
    pub lines: Vec<usize>,
    /// Lines that end in `// with new_kind`: the other access of a data race.
    pub with: Vec<usize>,
}

/// An error in a source's marks.
#[derive(Debug, PartialEq, Eq)]
pub enum MarkError {
    /// No line is marked.
    Missing,
    /// A mark with an unknown kind.
    UnknownKind(String),
    /// Marks of two kinds.
    MixedKinds(Kind, Kind),
}

impl fmt::Display for MarkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkError::Missing => write!(f, "no line ends in `// BUG: KIND`"),
            MarkError::UnknownKind(word) => {
                write!(
                    f,
                    "`// BUG: {word}`: unknown kind; the kinds are mem, init, race, sync, leak and host"
                )
            }
            MarkError::MixedKinds(first, second) => {
                write!(
                    f,
                    "marks of two kinds, {first:?} and {second:?}; each file has one bug"
                )
            }
        }
    }
}

impl Error for MarkError {}

/// Parses the marks in a source's `text`.
///
/// # Errors
///
/// Fails if there is no mark, a mark with an unknown kind, or marks of several kinds.
pub fn parse_marks(text: &str) -> Result<Marks, MarkError> {
    let mut kind = None;
    let (mut lines, mut with) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, word)) = line.split_once("// BUG: ") {
            let new_kind = word.trim_end().parse()?;
            match kind {
                Some(previous) if previous != new_kind => {
                    return Err(MarkError::MixedKinds(previous, new_kind));
                }
                _ => kind = Some(new_kind),
            }
            lines.push(number);
        } else if line.trim_end().ends_with("// with this") {
            with.push(number);
        }
    }
    let kind = kind.ok_or(MarkError::Missing)?;
    Ok(Marks { kind, lines, with })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_from_line_one() {
        let text = "a; // with this\nb; // BUG: race\r\nc;\nd; // BUG: race\n";
        let expected = Marks {
            kind: Kind::Race,
            lines: vec![2, 4],
            with: vec![1],
        };
        assert_eq!(parse_marks(text), Ok(expected));
    }

    #[test]
    fn missing_unknown_and_mixed_marks_are_rejected() {
        assert_eq!(parse_marks("a;\n"), Err(MarkError::Missing));
        let error = parse_marks("a; // BUG: speed\n").unwrap_err().to_string();
        assert!(error.contains("speed"), "{error}");
        let error = parse_marks("a; // BUG: mem\nb; // BUG: init\n");
        assert_eq!(error, Err(MarkError::MixedKinds(Kind::Mem, Kind::Init)));
    }
}
