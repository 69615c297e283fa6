//! What `--check` prints: mistakes that the simulator found in kernels, or on a GPU the commands by
//! which NVIDIA's tool looks for them.
//!
//! Nothing is looked for here: the simulator does that.

mod record;
mod sanitizer;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use cuda_driver::{Check, Checks, Finding, FindingKind, Severity};

use common::error::note;

pub use record::Record;
pub use sanitizer::commands;

/// A report of this program has to do with checks: what is found after it is told as well.
static ON: AtomicBool = AtomicBool::new(false);

/// The simulator looks for mistakes from now on, if `--check` says so.
pub(crate) fn begin(checks: Option<Checks>) {
    if let Some(checks) = checks {
        ON.store(true, Ordering::Relaxed);
        cuda_driver::check(checks);
        cuda_driver::take_findings();
    }
}

/// What was found since [`begin`]: see [`once`].
pub(crate) fn found() -> Vec<Finding> {
    once(cuda_driver::take_findings())
}

/// Each mistake once, however many launches had it: errors first.
pub fn once(found: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in found {
        let mut known = findings.iter_mut();
        match known.find(|known| is_alike(known, &finding)) {
            Some(known) => known.count += finding.count,
            None => findings.push(finding),
        }
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// The same mistake in the same place, in another launch.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    let place = |finding: &Finding| finding.other.as_ref().map(|it| it.source.clone());
    (one.kind, &one.kernel, &one.source) == (other.kind, &other.kernel, &other.source)
        && place(one) == place(other)
        && one.kind != FindingKind::Leaked
        && (one.check != Check::Host || one.what == other.what)
}

/// The findings as a section of a report.
pub fn section(checks: Checks, findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!("Checked ({}): nothing found.", names(checks));
    }
    let head = match findings.len() {
        1 => format!("Checked ({}): 1 mistake.", names(checks)),
        many => format!("Checked ({}): {many} mistakes.", names(checks)),
    };
    let texts = findings.iter().map(Finding::to_string);
    let all: Vec<String> = std::iter::once(head).chain(texts).collect();
    all.join("\n\n")
}

fn names(checks: Checks) -> String {
    let names: Vec<&str> = checks.on().map(Check::name).collect();
    names.join(", ")
}

/// What a program with these findings comes to.
///
/// # Errors
///
/// Where one of them is an error: how many there are, and the first.
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

/// What a program comes to whose run came to `result`: what was found after its report, as memory
/// that was never freed, is told on standard error.
///
/// # Errors
///
/// That of the run, and where an error was found.
pub(crate) fn end(result: Result<()>) -> Result<()> {
    if !ON.load(Ordering::Relaxed) {
        return result;
    }
    let mut findings = found();
    // What stopped a kernel was told when it did.
    findings.retain(|finding| !finding.kind.stops());
    for finding in &findings {
        note(format_args!("\n{finding}"));
    }
    result.and_then(|()| verdict(&findings))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finding of a kind, in a kernel and line of the PTX.
    pub(super) fn finding(kind: FindingKind, severity: Severity, line: u32) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: "add".to_owned(),
            block: [1, 0, 0],
            thread: [2, 0, 0],
            source: source(line),
            other: None,
            what: "4 bytes".to_owned(),
            usually: String::new(),
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
    fn a_section_says_what_was_looked_for() {
        let some = "race,mem".parse().unwrap();
        assert_eq!(section(some, &[]), "Checked (mem, race): nothing found.");
        let one = [finding(FindingKind::UnwrittenShared, Severity::Error, 7)];
        let text = section(some, &one);
        assert!(
            text.starts_with("Checked (mem, race): 1 mistake.\n\nerror: init: "),
            "{text}"
        );
        assert!(text.contains("(3 times)"), "{text}");
    }

    #[test]
    fn an_error_is_one_and_a_warning_is_not() {
        assert!(verdict(&[]).is_ok());
        let warning = finding(FindingKind::BetweenBlocks, Severity::Warning, 7);
        assert!(verdict(std::slice::from_ref(&warning)).is_ok());
        let error = finding(FindingKind::ReadAfterWrite, Severity::Error, 9);
        let said = verdict(&[warning, error.clone(), error])
            .unwrap_err()
            .to_string();
        assert_eq!(
            said,
            "--check found an error: read-after-write in add, at PTX line 9, and 1 more"
        );
    }

    #[test]
    fn the_same_mistake_of_two_launches_is_one() {
        let one = finding(FindingKind::ReadAfterWrite, Severity::Error, 9);
        assert!(is_alike(&one, &one.clone()));
        assert!(!is_alike(
            &one,
            &finding(FindingKind::ReadAfterWrite, Severity::Error, 8)
        ));
        let leak = finding(FindingKind::Leaked, Severity::Error, 0);
        assert!(!is_alike(&leak, &leak.clone()), "two allocations");
    }
}
