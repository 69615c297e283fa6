//! JSON form of the findings.

use cuda_driver::{Check, Checks, Finding, OtherAccess, SourceLine};
use serde::Serialize;

/// The checks that ran and their findings.
#[derive(Debug, Serialize)]
pub struct Record {
    checks: Vec<&'static str>,
    findings: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    check: &'static str,
    kind: &'static str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    #[serde(flatten)]
    access: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OtherPlace>,
    what: String,
    usually: String,
    count: u64,
}

/// The block, thread and source line of an access.
#[derive(Debug, Serialize)]
struct Place {
    block: [u32; 3],
    thread: [u32; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    ptx_line: u32,
}

#[derive(Debug, Serialize)]
struct OtherPlace {
    writes: bool,
    #[serde(flatten)]
    place: Place,
}

impl Record {
    /// Creates the record of these checks and findings.
    pub fn new(checks: Checks, findings: &[Finding]) -> Record {
        Record {
            checks: checks.on().map(Check::name).collect(),
            findings: findings.iter().map(Found::from).collect(),
        }
    }
}

impl Place {
    fn new(block: [u32; 3], thread: [u32; 3], source: &SourceLine) -> Place {
        Place {
            block,
            thread,
            file: source.file.clone().filter(|_| source.line > 0),
            line: (source.line > 0).then_some(source.line),
            ptx_line: source.ptx_line,
        }
    }
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Found {
        let kernel = finding.kernel.clone();
        Found {
            check: finding.check.name(),
            kind: finding.kind.name(),
            severity: finding.severity.name(),
            kernel: (!kernel.is_empty()).then_some(kernel),
            access: Place::new(finding.block, finding.thread, &finding.source),
            other: finding.other.as_ref().map(OtherPlace::from),
            what: finding.what.clone(),
            usually: finding.usually.clone(),
            count: finding.count,
        }
    }
}

impl From<&OtherAccess> for OtherPlace {
    fn from(other: &OtherAccess) -> OtherPlace {
        OtherPlace {
            writes: other.write,
            place: Place::new(other.block, other.thread, &other.source),
        }
    }
}
