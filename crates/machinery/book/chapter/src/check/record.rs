//! JSON form of the findings.

use cuda_driver::{Check, Checks, Finding, OtherAccess, SourceLine};
use serde::Serialize;

/// The checks that ran and their findings.
#[derive(Debug, Serialize)]
pub struct Record {
    checks: Vec<&'static str>,
    findings: Vec<FindingRecord>,
}

#[derive(Debug, Serialize)]
struct FindingRecord {
    check: &'static str,
    kind: &'static str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    #[serde(flatten)]
    access: AccessRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OtherAccessRecord>,
    what: String,
    usually: String,
    count: u64,
}

/// The block, thread and source line of an access.
#[derive(Debug, Serialize)]
struct AccessRecord {
    block: [u32; 3],
    thread: [u32; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    ptx_line: u32,
}

#[derive(Debug, Serialize)]
struct OtherAccessRecord {
    writes: bool,
    #[serde(flatten)]
    access: AccessRecord,
}

impl Record {
    /// Creates the record of these checks and findings.
    pub fn new(checks: Checks, findings: &[Finding]) -> Record {
        Record {
            checks: checks.enabled().map(Check::name).collect(),
            findings: findings.iter().map(FindingRecord::from).collect(),
        }
    }
}

impl AccessRecord {
    fn new(block: [u32; 3], thread: [u32; 3], source: &SourceLine) -> AccessRecord {
        AccessRecord {
            block,
            thread,
            file: source.file.clone().filter(|_| source.line > 0),
            line: (source.line > 0).then_some(source.line),
            ptx_line: source.ptx_line,
        }
    }
}

impl From<&Finding> for FindingRecord {
    fn from(finding: &Finding) -> FindingRecord {
        let kernel = finding.kernel.clone();
        FindingRecord {
            check: finding.check.name(),
            kind: finding.kind.name(),
            severity: finding.severity.name(),
            kernel: (!kernel.is_empty()).then_some(kernel),
            access: AccessRecord::new(finding.block, finding.thread, &finding.source),
            other: finding.other.as_ref().map(OtherAccessRecord::from),
            what: finding.details.clone(),
            usually: finding.likely_cause.clone(),
            count: finding.count,
        }
    }
}

impl From<&OtherAccess> for OtherAccessRecord {
    fn from(other: &OtherAccess) -> OtherAccessRecord {
        OtherAccessRecord {
            writes: other.write,
            access: AccessRecord::new(other.block, other.thread, &other.source),
        }
    }
}
