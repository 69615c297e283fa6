//! What ends a launch before its time.

mod diagnosis;
mod kind;

pub use diagnosis::{Diagnosis, Sizes};
pub use kind::FaultKind;

use crate::check::{Checks, Finding, FindingKind, Severity};
use crate::isa::SourceLine;
use std::fmt;

/// A kernel did what a GPU stops it for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Where; none where no thread is known that did it.
    pub location: Option<Box<FaultLocation>>,
    /// What the address nearly was, where there is anything to say.
    pub diagnosis: Option<Box<Diagnosis>>,
    /// What the kernel had printed by then.
    pub printed: Vec<u8>,
    /// What checks had found by then.
    pub findings: Vec<Finding>,
}

impl Fault {
    pub fn new(kind: FaultKind, location: Option<Box<FaultLocation>>) -> Fault {
        Fault {
            kind,
            location,
            diagnosis: None,
            printed: Vec::new(),
            findings: Vec::new(),
        }
    }
}

/// Which thread, and where in the program.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultLocation {
    pub kernel: String,
    pub block: [u32; 3],
    /// The thread's warp, by number in its block.
    pub warp: u32,
    pub thread: [u32; 3],
    pub source: SourceLine,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let FaultKind::Assert { .. } = self.kind {
            return Ok(());
        }
        if let Some(location) = &self.location {
            let ([bx, by, bz], [tx, ty, tz]) = (location.block, location.thread);
            write!(
                f,
                "\n  in kernel {}, block ({bx}, {by}, {bz}), ",
                location.kernel
            )?;
            // Where time is up, a whole warp is looked at.
            if let FaultKind::Timeout { .. } = self.kind {
                write!(f, "warp {}, ", location.warp)?;
            }
            write!(f, "thread ({tx}, {ty}, {tz})\n  at {}", location.source)?;
        }
        if let Some(diagnosis) = &self.diagnosis {
            if !diagnosis.details.is_empty() {
                write!(f, "\n  {}", diagnosis.details)?;
            }
            if !diagnosis.likely_cause.is_empty() {
                write!(f, "\n  usually: {}", diagnosis.likely_cause)?;
            }
        }
        Ok(())
    }
}

impl Fault {
    /// All that was found, the fault itself first, of what `checks` look for.
    pub fn take_findings(&mut self, checks: Checks) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let fault = self.finding().filter(|finding| checks.contains(finding.check));
        // That a barrier does not open is no news where only part of a warp has come to it.
        let is_redundant = |fault: &Finding| {
            let same_barrier = |finding: &Finding| {
                finding.kind == FindingKind::DivergentBarrier && finding.source == fault.source
            };
            fault.kind == FindingKind::BarrierNeverOpens && findings.iter().any(same_barrier)
        };
        let fault = fault.filter(|fault| !is_redundant(fault));
        findings.splice(..0, fault);
        findings
    }

    /// As a finding, where it is a mistake that a check looks for.
    pub fn finding(&self) -> Option<Finding> {
        let (diagnosis, location) = (self.diagnosis.as_ref()?, self.location.as_ref()?);
        let message = self.to_string();
        let first = message.lines().next().unwrap_or_default().to_owned();
        let details = match diagnosis.details.is_empty() {
            true => first,
            false => format!("{first}\n  {}", diagnosis.details),
        };
        Some(Finding {
            check: diagnosis.kind.check(),
            kind: diagnosis.kind,
            severity: Severity::Error,
            kernel: location.kernel.clone(),
            block: location.block,
            thread: location.thread,
            source: location.source.clone(),
            other: None,
            details,
            likely_cause: diagnosis.likely_cause.to_owned(),
            count: 1,
        })
    }
}

impl std::error::Error for Fault {}
