//! Output of `--check`: the simulator's findings, as text and as JSON.
//!
//! This module only reports; the simulator does the checking.

use std::sync::OnceLock;

use anyhow::{Result, bail};
use common::error::note;
use cuda_driver::{Cause, Check, Checks, Finding, FindingKind, OtherAccess, Severity, SourceLine};
use serde::Serialize;

use crate::chinese;
use crate::lang::Lang;

/// The language of the report that was started with checks, so that findings made after the report are printed too.
static ENABLED: OnceLock<Lang> = OnceLock::new();

/// The maximum number of lines that [`section`] prints of findings.
const MAX_LINES: usize = 60;

/// Turns on the simulator's checks if `--check` was given.
pub(crate) fn enable(checks: Option<Checks>, lang: Lang) {
    if let Some(checks) = checks {
        let _ = ENABLED.set(lang);
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
            Some(other) => other.merge(&finding),
            None => merged.push(finding),
        }
    }
    // A finding that ended a launch comes first, so that `section` shows it.
    merged.sort_by_key(|finding| (finding.severity, !finding.stops()));
    merged
}

/// Returns true if both findings have the same cause and source lines, in different launches or calls.
fn is_duplicate(a: &Finding, b: &Finding) -> bool {
    a.is_same_bug(b)
        && a.kind != FindingKind::Leaked
        && (!a.kernel.is_empty() || a.source.line > 0 || a.details == b.details)
}

/// Formats the findings as a section of a report. `incomplete` is the reason for which the checks did not see all
/// of the program, if there is one.
pub fn section(
    checks: Checks,
    findings: &[Finding],
    incomplete: Option<&str>,
    lang: Lang,
) -> String {
    let found = match (findings.len(), incomplete) {
        (0, Some(reason)) => reason.to_owned(),
        (0, None) => localize!(lang, "no findings.", "没有发现问题。"),
        (1, _) => localize!(lang, "1 finding.", "发现 1 个问题。"),
        (count, _) => localize!(lang, "{} findings.", "发现 {} 个问题。"; count),
    };
    let mut parts = vec![localize!(
        lang,
        "Checked ({}): {}",
        "检查（{}）：{}";
        names(checks), found
    )];
    let mut lines = 0;
    for (index, finding) in findings.iter().enumerate() {
        let text = chinese::finding(finding, lang);
        lines += text.lines().count() + 1;
        if lines > MAX_LINES && index > 0 {
            let more = match findings.len() - index {
                1 => localize!(lang, "1 more finding", "1 个问题"),
                more => localize!(lang, "{} more findings", "{} 个问题"; more),
            };
            parts.push(localize!(
                lang,
                "and {}; the record that --json or CUDA_SIM_JSON writes lists all",
                "另有 {}；--json 或 CUDA_SIM_JSON 写出的记录会全部列出";
                more
            ));
            break;
        }
        parts.push(text);
    }
    if !findings.is_empty() {
        parts.extend(incomplete.map(
            |reason| localize!(lang, "The checks are incomplete: {}", "检查不完整：{}"; reason),
        ));
    }
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
    let Some(&lang) = ENABLED.get() else {
        return result;
    };
    let mut findings = take_findings();
    // Findings that stopped a kernel were printed when it stopped.
    findings.retain(|finding| !finding.stops());
    for finding in &findings {
        note(format_args!("\n{}", chinese::finding(finding, lang)));
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
    /// The kind of the likely cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
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
            cause: finding.likely_cause.as_ref().map(Cause::kind),
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
            atomic: false,
            other: None,
            details: Details::None,
            likely_cause: None,
            count: 3,
            ptx_lines: [line; 2],
        }
    }

    fn source(ptx_line: u32) -> cuda_driver::SourceLine {
        cuda_driver::SourceLine {
            file: None,
            line: 0,
            ptx_line,
            is_nearest: false,
        }
    }

    #[test]
    fn a_section_lists_its_checks_and_findings() {
        let some = "race,mem".parse().unwrap();
        assert_eq!(
            section(some, &[], None, Lang::En),
            "Checked (mem, race): no findings."
        );
        let one = [finding(
            FindingKind::UninitializedShared,
            Severity::Error,
            7,
        )];
        let text = section(some, &one, None, Lang::En);
        assert!(
            text.starts_with("Checked (mem, race): 1 finding.\n\nerror: init: "),
            "{text}"
        );
        assert!(text.contains("(3 times)"), "{text}");
    }

    #[test]
    fn a_section_is_short_and_says_what_it_omits() {
        let all: Checks = "race".parse().unwrap();
        let findings: Vec<Finding> = (0..100)
            .map(|line| finding(FindingKind::ReadAfterWrite, Severity::Error, line))
            .collect();
        let text = section(all, &findings, Some("1 launch failed."), Lang::En);
        assert!(text.lines().count() <= MAX_LINES + 5, "{text}");
        assert!(text.starts_with("Checked (race): 100 findings."), "{text}");
        let end = "and 85 more findings; the record that --json or CUDA_SIM_JSON writes lists all\n\n\
                   The checks are incomplete: 1 launch failed.";
        assert!(text.ends_with(end), "{text}");
        let text = section(all, &[], Some("1 launch failed."), Lang::En);
        assert_eq!(text, "Checked (race): 1 launch failed.");
    }

    #[test]
    fn the_fault_comes_first() {
        let race = finding(FindingKind::ReadAfterWrite, Severity::Error, 1);
        let fault = finding(FindingKind::OutOfBounds, Severity::Error, 2);
        assert_eq!(
            deduplicated([race, fault])[0].kind,
            FindingKind::OutOfBounds
        );
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
