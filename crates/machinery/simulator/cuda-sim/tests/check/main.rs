//! The sanitizer's checks, through the crate's public interface: each bug is reported at its location, and its
//! correct counterpart is not.

#[path = "../exec/harness.rs"]
#[expect(dead_code, reason = "the executor's tests need more of it")]
mod harness;

mod blocks;
mod counts;
mod device;
mod init;
mod memory;
mod race;
mod slips;
mod sync;
mod wgmma;

use cuda_sim::check::FindingKind::{self, *};
use cuda_sim::check::Severity::{self, Error, Warning};
use cuda_sim::check::{Cause, Checks, Finding};
use harness::{Launch, Machine, illegal, kernel_of, module_of, record, total};
use sim_machine::params;
use std::fmt::Display;

/// Returns the line of `ptx` that contains `mark`.
pub fn line_of(ptx: &str, mark: &str) -> u32 {
    let index = ptx.lines().position(|line| line.contains(mark));
    index.expect("no line has the mark") as u32 + 1
}

/// Returns a machine that has loaded `ptx` and runs all checks.
pub fn checking_machine(ptx: &str) -> Machine {
    Machine::checking(ptx, Checks::ALL)
}

/// Checks a kernel that [`kernel_of`] makes of `body`, in one block of `threads` threads that may write one
/// word each. Returns the findings and the PTX.
pub fn check_kernel(body: &str, threads: u32) -> Checked {
    check_module(&kernel_of(body), threads)
}

/// Checks a module that has a kernel like that of [`kernel_of`].
pub fn check_module(ptx: &str, threads: u32) -> Checked {
    let mut machine = checking_machine(ptx);
    let out = machine.out::<u32>(threads as usize);
    let launch = Launch::new("k", 1, threads, params![out]);
    (machine.report(&launch).findings, ptx.to_owned())
}

/// The findings in a kernel, and its PTX.
pub type Checked = (Vec<Finding>, String);

/// Assertions about findings.
pub trait Findings: Sized {
    /// Asserts that there is exactly one finding, with this kind, severity, first thread and count, on the
    /// line marked `// here`.
    #[track_caller]
    fn single(self, kind: FindingKind, severity: Severity, thread: u32, count: u64) -> Finding;

    /// Asserts that there are no findings.
    #[track_caller]
    fn none(self);

    /// Asserts that there is a finding of this kind and severity.
    #[track_caller]
    fn include(self, kind: FindingKind, severity: Severity);

    /// Keeps only the findings of one kind.
    fn only(self, kind: FindingKind) -> Self;
}

impl Findings for Checked {
    fn single(self, kind: FindingKind, severity: Severity, thread: u32, count: u64) -> Finding {
        let (findings, ptx) = self;
        let [finding] = &findings[..] else {
            panic!("expected one finding, not {findings:#?}, in\n{ptx}");
        };
        let actual = (finding.kind, finding.severity);
        assert_eq!(actual, (kind, severity), "{finding}\n{ptx}");
        assert_eq!(finding.check, kind.check());
        let line = line_of(&ptx, "// here");
        assert_eq!(finding.source.ptx_line, line, "{finding}\n{ptx}");
        assert_eq!(finding.thread, [thread, 0, 0], "{finding}\n{ptx}");
        assert_eq!(finding.count, count, "{finding}\n{ptx}");
        finding.clone()
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{}\n{}", self.0[0], self.1);
    }

    fn include(self, kind: FindingKind, severity: Severity) {
        let (findings, ptx) = self;
        let included = kinds_and_severities(&findings).contains(&(kind, severity));
        assert!(included, "{findings:#?}\n{ptx}");
    }

    fn only(mut self, kind: FindingKind) -> Self {
        self.0.retain(|finding| finding.kind == kind);
        self
    }
}

/// Returns the kinds and severities of findings, in order.
pub fn kinds_and_severities(findings: &[Finding]) -> Vec<(FindingKind, Severity)> {
    let findings = findings.iter();
    findings
        .map(|finding| (finding.kind, finding.severity))
        .collect()
}

/// Asserts that a sentence of a finding contains `part`.
#[track_caller]
pub fn assert_contains(text: &impl Display, part: &str) {
    let text = text.to_string();
    assert!(text.contains(part), "`{part}` is not in: {text}");
}
