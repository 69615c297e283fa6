//! What a check found, for a reader.

use super::choice::Check;

use super::finding_kind::FindingKind;
use super::words::allocation;
use crate::isa::SourceLine;
use crate::memory::global::AllocationRecord;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One mistake, as often as it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that found the mistake.
    pub check: Check,
    /// Which mistake it is.
    pub kind: FindingKind,
    /// How bad.
    pub severity: Severity,
    /// The kernel's name; empty for what no kernel did.
    pub kernel: String,
    /// The block that made the mistake; where several did, the one with the lowest number.
    pub block: [u32; 3],
    /// The thread that made the mistake; zero for [`FindingKind::BetweenBlocks`], of which only
    /// blocks are known.
    pub thread: [u32; 3],
    /// The line of the source at which the thread was.
    pub source: SourceLine,
    /// The other access of a race; none for a mistake that is no race.
    pub other: Option<OtherAccess>,
    /// What was touched, and what else there is to say. A sentence or two; may be empty.
    pub what: String,
    /// What usually causes such a mistake. A sentence; may be empty.
    pub usually: String,
    /// How often it was seen: each thread counts each time.
    pub count: u64,
}

/// The other access of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherAccess {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// The other access was a write; else it was a read.
    pub write: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// The kernel is wrong, unless its author means it just so.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Finding {
    /// For an allocation that was never freed; `call` is what made it: `cuMemAlloc`.
    pub(crate) fn leak(known: &AllocationRecord, call: &str) -> Finding {
        let kind = FindingKind::Leaked;
        Finding {
            check: kind.check(),
            kind,
            severity: Severity::Error,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            what: format!("{} by {call}", allocation(known)),
            usually: kind.usually().to_owned(),
            count: 1,
        }
    }

    /// For memory of the host's that is used too early; `what` says which, and by what.
    pub(crate) fn host(kind: FindingKind, severity: Severity, what: String) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            what,
            usually: kind.usually().to_owned(),
            count: 1,
        }
    }

    /// Whether both are the same mistake in the same lines of the source. Findings whose lines are
    /// not known are never alike.
    pub(super) fn is_alike(&self, other: &Finding) -> bool {
        let alike = |one: &SourceLine, other: &SourceLine| {
            one.line > 0 && (one.line, &one.file) == (other.line, &other.file)
        };
        let others_alike = match (&self.other, &other.other) {
            (None, None) => true,
            (Some(one), Some(other)) => alike(&one.source, &other.source),
            _ => false,
        };
        (self.kind, self.severity) == (other.kind, other.severity)
            && alike(&self.source, &other.source)
            && others_alike
    }

    /// What the thread did, `reads ` or `writes `, where the kind of finding tells it; else empty.
    fn does(&self) -> &'static str {
        match self.kind {
            FindingKind::ReadAfterWrite => "reads ",
            FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::BetweenBlocks => "writes ",
            _ => "",
        }
    }

    /// Writes the block, and the thread where that is known: of a race between blocks it is not.
    fn who(&self, f: &mut fmt::Formatter<'_>, block: [u32; 3], thread: [u32; 3]) -> fmt::Result {
        write!(f, "block {}", Triple(block))?;
        match self.kind {
            FindingKind::BetweenBlocks => Ok(()),
            _ => write!(f, ", thread {}", Triple(thread)),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { check, kind, .. } = self;
        write!(f, "{}: {check}: {}", self.severity.name(), kind.title())?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        if !self.kernel.is_empty() {
            write!(f, "\n  in kernel {}, ", self.kernel)?;
            self.who(f, self.block, self.thread)?;
            write!(f, "\n  {}at {}", self.does(), self.source)?;
        }
        if let Some(other) = &self.other {
            let does = if other.write { "writes" } else { "reads" };
            write!(f, "\n  ")?;
            self.who(f, other.block, other.thread)?;
            write!(f, " {does} at {}", other.source)?;
        }
        if !self.what.is_empty() {
            write!(f, "\n  {}", self.what)?;
        }
        if !self.usually.is_empty() {
            write!(f, "\n  usually: {}", self.usually)?;
        }
        Ok(())
    }
}

/// Three numbers as `(x, y, z)`.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity: Severity::Error,
            kernel: "sum".to_owned(),
            block: [1, 2, 3],
            thread: [4, 5, 0],
            source: SourceLine {
                file: Some("kernels/sum.cu".to_owned()),
                line: 7,
                ptx_line: 70,
            },
            other: None,
            what: "4 bytes at offset 0x8 of shared memory".to_owned(),
            usually: "a slip".to_owned(),
            count: 1,
        }
    }

    #[test]
    fn a_finding_says_what_and_where() {
        let text = Finding {
            other: Some(OtherAccess {
                block: [1, 2, 3],
                thread: [0; 3],
                source: SourceLine {
                    ptx_line: 60,
                    ..SourceLine::default()
                },
                write: true,
            }),
            count: 12,
            ..finding(FindingKind::ReadAfterWrite)
        }
        .to_string();
        let wanted =
            "error: race: a read of what another thread may not have written yet (12 times)
  in kernel sum, block (1, 2, 3), thread (4, 5, 0)
  reads at kernels/sum.cu:7 (PTX line 70)
  block (1, 2, 3), thread (0, 0, 0) writes at PTX line 60
  4 bytes at offset 0x8 of shared memory
  usually: a slip";
        assert_eq!(text, wanted);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let text = Finding {
            what: String::new(),
            usually: String::new(),
            ..finding(FindingKind::BetweenBlocks)
        }
        .to_string();
        assert!(!text.contains("thread"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        let leak = Finding {
            kernel: String::new(),
            ..finding(FindingKind::Leaked)
        };
        assert!(!leak.to_string().contains("in kernel"), "{leak}");
    }

    #[test]
    fn copies_of_a_line_are_alike_and_other_lines_are_not() {
        let one = finding(FindingKind::UnwrittenShared);
        let mut copy = one.clone();
        copy.source.ptx_line = 71;
        assert!(one.is_alike(&copy));
        copy.source.line = 8;
        assert!(!one.is_alike(&copy));
        // Without a source each line of the PTX is one of its own.
        let mut unknown = one.clone();
        unknown.source = SourceLine::default();
        assert!(!unknown.is_alike(&unknown.clone()));
        assert!(!one.is_alike(&finding(FindingKind::ReadAfterWrite)));
    }
}
