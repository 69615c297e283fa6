//! Faults: device exceptions that end a launch.

mod diagnosis;
mod kind;

pub use diagnosis::{Diagnosis, Sizes};
pub use kind::FaultKind;

use crate::check::{Checks, Finding, FindingKind, Severity};
use crate::isa::SourceLine;
use std::fmt;

/// A device exception that ended a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The thread and instruction that faulted, if known.
    pub location: Option<Box<FaultLocation>>,
    /// An explanation of the fault, if there is one.
    pub diagnosis: Option<Box<Diagnosis>>,
    /// Output of `printf` up to the fault.
    pub printed: Vec<u8>,
    /// Findings of the checks up to the fault.
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

/// The location of a fault: a thread and an instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultLocation {
    pub kernel: String,
    pub block: [u32; 3],
    /// Index of the thread's warp in its block.
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
            // A timeout is located by warp; the thread is only its first active lane.
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
                write!(f, "\n  likely cause: {}", diagnosis.likely_cause)?;
            }
        }
        Ok(())
    }
}

impl Fault {
    /// Takes all findings of the enabled `checks`, the fault itself first.
    pub fn take_findings(&mut self, checks: Checks) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let fault = self
            .finding()
            .filter(|finding| checks.contains(finding.check));
        // A barrier that never opens adds nothing to the finding that only part of a warp arrived at it.
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

    /// Returns the fault as a finding, if a check covers it.
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
