//! What ends a launch before its time.

mod kind;
mod miss;

pub use kind::FaultKind;
pub use miss::{Miss, Sizes};

use crate::check::{Checks, Finding, FindingKind, Severity};
use crate::isa::SourceLine;
use std::fmt;

/// A kernel did what a GPU stops it for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Where; none where no thread is known that did it.
    pub place: Option<Box<FaultPlace>>,
    /// What the address nearly was, where there is anything to say.
    pub miss: Option<Box<Miss>>,
    /// What the kernel had printed by then.
    pub printed: Vec<u8>,
    /// What checks had found by then.
    pub findings: Vec<Finding>,
}

impl Fault {
    pub fn new(kind: FaultKind, place: Option<Box<FaultPlace>>) -> Fault {
        Fault {
            kind,
            place,
            miss: None,
            printed: Vec::new(),
            findings: Vec::new(),
        }
    }
}

/// Which thread, and where in the program.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultPlace {
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
        if let Some(place) = &self.place {
            let ([bx, by, bz], [tx, ty, tz]) = (place.block, place.thread);
            write!(
                f,
                "\n  in kernel {}, block ({bx}, {by}, {bz}), ",
                place.kernel
            )?;
            // Where time is up, a whole warp is looked at.
            if let FaultKind::Timeout { .. } = self.kind {
                write!(f, "warp {}, ", place.warp)?;
            }
            write!(f, "thread ({tx}, {ty}, {tz})\n  at {}", place.source)?;
        }
        if let Some(miss) = &self.miss {
            if !miss.what.is_empty() {
                write!(f, "\n  {}", miss.what)?;
            }
            if !miss.likely_cause.is_empty() {
                write!(f, "\n  usually: {}", miss.likely_cause)?;
            }
        }
        Ok(())
    }
}

impl Fault {
    /// All that was found, the fault itself first, of what `checks` look for.
    pub fn take_findings(&mut self, checks: Checks) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let stopped = self.finding().filter(|found| checks.has(found.check));
        // That a barrier does not open is no news where only part of a warp has come to it.
        let news = |stopped: &Finding| {
            let known = |one: &Finding| {
                one.kind == FindingKind::DivergentBarrier && one.source == stopped.source
            };
            stopped.kind != FindingKind::BarrierNeverOpens || !findings.iter().any(known)
        };
        let stopped = stopped.filter(news);
        findings.splice(..0, stopped);
        findings
    }

    /// As a finding, where it is a mistake that a check looks for.
    pub fn finding(&self) -> Option<Finding> {
        let (miss, place) = (self.miss.as_ref()?, self.place.as_ref()?);
        let whole = self.to_string();
        let first = whole.lines().next().unwrap_or_default().to_owned();
        let what = match miss.what.is_empty() {
            true => first,
            false => format!("{first}\n  {}", miss.what),
        };
        Some(Finding {
            check: miss.kind.check(),
            kind: miss.kind,
            severity: Severity::Error,
            kernel: place.kernel.clone(),
            block: place.block,
            thread: place.thread,
            source: place.source.clone(),
            other: None,
            what,
            likely_cause: miss.likely_cause.to_owned(),
            count: 1,
        })
    }
}

impl std::error::Error for Fault {}
