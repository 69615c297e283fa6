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

use cuda_sim::check::{Checks, Finding, FindingKind, Severity};
use harness::{Launch, Machine, kernel_of};
use sim_machine::params;

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
pub fn check_kernel(body: &str, threads: u32) -> (Vec<Finding>, String) {
    check_module(&kernel_of(body), threads)
}

/// Checks a module that has a kernel like that of [`kernel_of`].
pub fn check_module(ptx: &str, threads: u32) -> (Vec<Finding>, String) {
    let mut machine = checking_machine(ptx);
    let out = machine.out::<u32>(threads as usize);
    let launch = Launch::new("k", 1, threads, params![out]);
    (machine.report(&launch).findings, ptx.to_owned())
}

/// Asserts that there is exactly one finding, with this kind, severity, first thread and count, on the line
/// marked `// here`.
#[track_caller]
pub fn assert_single_finding(
    (findings, ptx): (Vec<Finding>, String),
    kind: FindingKind,
    severity: Severity,
    thread: u32,
    count: u64,
) -> Finding {
    let [finding] = &findings[..] else {
        panic!("expected one finding, not {findings:#?}, in\n{ptx}");
    };
    assert_eq!(
        (finding.kind, finding.severity),
        (kind, severity),
        "{finding}\n{ptx}"
    );
    assert_eq!(finding.check, kind.check());
    assert_eq!(
        finding.source.ptx_line,
        line_of(&ptx, "// here"),
        "{finding}\n{ptx}"
    );
    assert_eq!(finding.thread, [thread, 0, 0], "{finding}\n{ptx}");
    assert_eq!(finding.count, count, "{finding}\n{ptx}");
    finding.clone()
}

/// Asserts that there are no findings.
#[track_caller]
pub fn assert_no_findings((findings, ptx): (Vec<Finding>, String)) {
    assert!(findings.is_empty(), "{}\n{ptx}", findings[0]);
}

/// Keeps only the findings of one kind.
pub fn only_kind(
    (findings, ptx): (Vec<Finding>, String),
    kind: FindingKind,
) -> (Vec<Finding>, String) {
    let findings = findings.into_iter().filter(|finding| finding.kind == kind);
    (findings.collect(), ptx)
}
