//! Output of `--check`: the simulator's findings, as text and as JSON.
//!
//! This module only reports; the simulator does the checking.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use common::error::note;
use cuda_driver::{Cause, Check, Checks, Finding, FindingKind, OtherAccess, Severity, SourceLine};
use serde::Serialize;

/// Set once a report was started with checks, so that findings made after the report are printed too.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// Turns on the simulator's checks if `--check` was given.
pub(crate) fn enable(checks: Option<Checks>) {
    if let Some(checks) = checks {
        ENABLED.store(true, Ordering::Relaxed);
        cuda_driver::check(checks);
        cuda_driver::take_findings();
    }
}

/// Takes the findings since [`enable`], without duplicates.
pub(crate) fn take_findings() -> Vec<Finding> {
    deduplicated(cuda_driver::take_findings())
}

/// Merges the findings of all launches that have the same cause, and sorts errors first.
pub fn deduplicated(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        let mut existing = merged.iter_mut();
        match existing.find(|other| is_duplicate(other, &finding)) {
            Some(other) => other.count += finding.count,
            None => merged.push(finding),
        }
    }
    merged.sort_by_key(|finding| finding.severity);
    merged
}

/// Returns true if both findings have the same cause and source lines, in different launches.
fn is_duplicate(a: &Finding, b: &Finding) -> bool {
    let other_source =
        |finding: &Finding| finding.other.as_ref().map(|access| access.source.clone());
    (a.kind, &a.kernel, &a.source) == (b.kind, &b.kernel, &b.source)
        && other_source(a) == other_source(b)
        && a.kind != FindingKind::Leaked
        && (a.check != Check::Host || a.details == b.details)
}

/// Formats the findings as a section of a report.
pub fn section(checks: Checks, findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!("Checked ({}): no findings.", names(checks));
    }
    let head = match findings.len() {
        1 => format!("Checked ({}): 1 finding.", names(checks)),
        count => format!("Checked ({}): {count} findings.", names(checks)),
    };
    let texts = findings.iter().map(Finding::to_string);
    let parts: Vec<String> = std::iter::once(head).chain(texts).collect();
    parts.join("\n\n")
}

fn names(checks: Checks) -> String {
    let names: Vec<&str> = checks.enabled().map(Check::name).collect();
    names.join(", ")
}

/// Returns the outcome of a program with these findings.
///
/// # Errors
///
/// Fails if one of them is an error; the message names the first and the number of others.
pub fn verdict(findings: &[Finding]) -> Result<()> {
    let mut errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return Ok(());
    };
    let more = match errors.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match first.kernel.as_str() {
        "" => bail!("--check found an error: {}{more}", first.kind.name()),
        kernel => bail!(
            "--check found an error: {} in {kernel}, at {}{more}",
            first.kind.name(),
            first.source
        ),
    }
}

/// Combines the program's `result` with the findings made after its report, such as memory that was never
/// freed, and prints those to standard error.
///
/// # Errors
///
/// Fails if the run failed or a finding is an error.
pub(crate) fn finish(result: Result<()>) -> Result<()> {
    if !ENABLED.load(Ordering::Relaxed) {
        return result;
    }
    let mut findings = take_findings();
    // Findings that stopped a kernel were printed when it stopped.
    findings.retain(|finding| !finding.kind.stops());
    for finding in &findings {
        note(format_args!("\n{finding}"));
    }
    result.and_then(|()| verdict(&findings))
}

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
            what: finding.details.to_string(),
            usually: finding
                .likely_cause
                .as_ref()
                .map(Cause::to_string)
                .unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use cuda_driver::Details;

    use super::*;

    /// Returns a finding of this kind at a line of the PTX.
    fn finding(kind: FindingKind, severity: Severity, line: u32) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: "add".to_owned(),
            block: [1, 0, 0],
            thread: [2, 0, 0],
            source: source(line),
            other: None,
            details: Details::None,
            likely_cause: None,
            count: 3,
        }
    }

    fn source(ptx_line: u32) -> cuda_driver::SourceLine {
        cuda_driver::SourceLine {
            file: None,
            line: 0,
            ptx_line,
        }
    }

    #[test]
    fn a_section_lists_its_checks_and_findings() {
        let some = "race,mem".parse().unwrap();
        assert_eq!(section(some, &[]), "Checked (mem, race): no findings.");
        let one = [finding(
            FindingKind::UninitializedShared,
            Severity::Error,
            7,
        )];
        let text = section(some, &one);
        assert!(
            text.starts_with("Checked (mem, race): 1 finding.\n\nerror: init: "),
            "{text}"
        );
        assert!(text.contains("(3 times)"), "{text}");
    }

    #[test]
    fn errors_fail_and_warnings_do_not() {
        assert!(verdict(&[]).is_ok());
        let warning = finding(FindingKind::InterBlockRace, Severity::Warning, 7);
        assert!(verdict(std::slice::from_ref(&warning)).is_ok());
        let error = finding(FindingKind::ReadAfterWrite, Severity::Error, 9);
        let message = verdict(&[warning, error.clone(), error])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "--check found an error: read-after-write in add, at PTX line 9, and 1 more"
        );
    }

    #[test]
    fn findings_of_the_same_lines_are_duplicates_except_leaks() {
        let one = finding(FindingKind::ReadAfterWrite, Severity::Error, 9);
        assert!(is_duplicate(&one, &one.clone()));
        assert!(!is_duplicate(
            &one,
            &finding(FindingKind::ReadAfterWrite, Severity::Error, 8)
        ));
        let leak = finding(FindingKind::Leaked, Severity::Error, 0);
        assert!(!is_duplicate(&leak, &leak.clone()), "two allocations");
    }
}
