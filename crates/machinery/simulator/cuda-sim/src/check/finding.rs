//! Findings of the checks, as the user sees them.

use super::selection::Check;

use super::display::allocation;
use super::finding_kind::FindingKind;
use crate::isa::SourceLine;
use crate::memory::global::AllocationRecord;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A finding: one bug, with the number of its occurrences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that reported the finding.
    pub check: Check,
    /// The kind of bug.
    pub kind: FindingKind,
    /// The severity.
    pub severity: Severity,
    /// The kernel's name. Empty if the finding does not concern a kernel.
    pub kernel: String,
    /// The block in which the bug occurred. If there are several, the one with the lowest index.
    pub block: [u32; 3],
    /// The thread in which the bug occurred. Zero for [`FindingKind::InterBlockRace`], for which only blocks
    /// are tracked.
    pub thread: [u32; 3],
    /// The source line of the thread's instruction.
    pub source: SourceLine,
    /// The other access of a data race; `None` for other kinds.
    pub other: Option<OtherAccess>,
    /// The accessed memory and other evidence, in one or two sentences. May be empty.
    #[serde(rename = "what")]
    pub details: String,
    /// The usual cause of such a bug, in one sentence. May be empty.
    #[serde(rename = "usually")]
    pub likely_cause: String,
    /// The number of occurrences; each execution by each thread counts.
    pub count: u64,
}

/// The other access of a data race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherAccess {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// True if the other access was a write, false if it was a read.
    pub write: bool,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// The kernel has a bug.
    Error,
    /// The kernel probably has a bug, but correct kernels may do the same on purpose.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Finding {
    /// Creates the finding for an allocation that was never freed. `call` is the function that allocated it:
    /// `cuMemAlloc`.
    pub(crate) fn leak(record: &AllocationRecord, call: &str) -> Finding {
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
            details: format!("{} by {call}", allocation(record)),
            likely_cause: kind.likely_cause().to_owned(),
            count: 1,
        }
    }

    /// Creates the finding for host memory that is accessed too early. `details` names the memory and the
    /// work that uses it.
    pub(crate) fn host(kind: FindingKind, severity: Severity, details: String) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            details,
            likely_cause: kind.likely_cause().to_owned(),
            count: 1,
        }
    }

    /// Returns true if both findings are the same bug at the same source lines. Findings without known source
    /// lines are never the same.
    pub(super) fn is_same_bug(&self, other: &Finding) -> bool {
        let same_line = |first: &SourceLine, other: &SourceLine| {
            first.line > 0 && (first.line, &first.file) == (other.line, &other.file)
        };
        let same_other = match (&self.other, &other.other) {
            (None, None) => true,
            (Some(first), Some(other)) => same_line(&first.source, &other.source),
            _ => false,
        };
        (self.kind, self.severity) == (other.kind, other.severity)
            && same_line(&self.source, &other.source)
            && same_other
    }

    /// Returns `reads ` or `writes ` if the kind of finding determines the access, otherwise an empty string.
    fn verb(&self) -> &'static str {
        match self.kind {
            FindingKind::ReadAfterWrite => "reads ",
            FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::InterBlockRace => "writes ",
            _ => "",
        }
    }

    /// Writes the block, and the thread if the kind of finding identifies it.
    fn write_thread(
        &self,
        f: &mut fmt::Formatter<'_>,
        block: [u32; 3],
        thread: [u32; 3],
    ) -> fmt::Result {
        write!(f, "block {}", Triple(block))?;
        match self.kind {
            FindingKind::InterBlockRace => Ok(()),
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
            self.write_thread(f, self.block, self.thread)?;
            write!(f, "\n  {}at {}", self.verb(), self.source)?;
        }
        if let Some(other) = &self.other {
            let verb = if other.write { "writes" } else { "reads" };
            write!(f, "\n  ")?;
            self.write_thread(f, other.block, other.thread)?;
            write!(f, " {verb} at {}", other.source)?;
        }
        if !self.details.is_empty() {
            write!(f, "\n  {}", self.details)?;
        }
        if !self.likely_cause.is_empty() {
            write!(f, "\n  likely cause: {}", self.likely_cause)?;
        }
        Ok(())
    }
}

/// Three numbers, formatted as `(x, y, z)`.
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
            details: "4 bytes at offset 0x8 of shared memory".to_owned(),
            likely_cause: "a slip".to_owned(),
            count: 1,
        }
    }

    #[test]
    fn display_shows_the_problem_both_accesses_and_the_cause() {
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
        let expected = "error: race: read-after-write data race (12 times)
  in kernel sum, block (1, 2, 3), thread (4, 5, 0)
  reads at kernels/sum.cu:7 (PTX line 70)
  block (1, 2, 3), thread (0, 0, 0) writes at PTX line 60
  4 bytes at offset 0x8 of shared memory
  likely cause: a slip";
        assert_eq!(text, expected);
    }

    #[test]
    fn unknown_parts_are_omitted() {
        let text = Finding {
            details: String::new(),
            likely_cause: String::new(),
            ..finding(FindingKind::InterBlockRace)
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
    fn findings_are_merged_by_source_line() {
        let first = finding(FindingKind::UninitializedShared);
        let mut copy = first.clone();
        copy.source.ptx_line = 71;
        assert!(first.is_same_bug(&copy));
        copy.source.line = 8;
        assert!(!first.is_same_bug(&copy));
        // Without source lines, each PTX line is a separate finding.
        let mut unknown = first.clone();
        unknown.source = SourceLine::default();
        assert!(!unknown.is_same_bug(&unknown.clone()));
        assert!(!first.is_same_bug(&finding(FindingKind::ReadAfterWrite)));
    }
}
