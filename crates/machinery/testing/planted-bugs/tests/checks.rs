//! The program under the simulator's checks: each planted bug is reported with the correct kind and line,
//! and no twin is reported.

mod reports;

use std::fmt::Write as _;

use planted_bugs::cases::{self, Case};
use reports::{Report, Run, run};

/// Cases that are intended in some programs, or that hardware tolerates: the check only warns.
const WARNINGS: [&str; 6] = [
    "sum-without-atomics",
    "stencil-in-place",
    "last-block",
    "warp-without-syncwarp",
    "shuffle-in-branch",
    "vote-after-return",
];

/// Returns the problem with a run's reports of a planted bug, or `None` if they are correct.
fn problem(case: &Case, output: &Run) -> Option<&'static str> {
    let name = case.source.name;
    let severity = if WARNINGS.contains(&name) {
        "warning"
    } else {
        "error"
    };
    if output.reports.is_empty() {
        return Some("no finding");
    }
    let marks = &case.marks;
    let is_marked = |line: &usize| marks.lines.contains(line) || marks.with.contains(line);
    let is_correct = |report: &Report| {
        let lines = &report.lines;
        let kind_matches = report.check == case.marks.kind && report.severity == severity;
        let location_matches = report.file == case.source.file
            && lines.iter().any(|line| marks.lines.contains(line))
            && lines.iter().all(is_marked);
        kind_matches && (location_matches || marks.kind.is_host_bug())
    };
    if !output.reports.iter().any(is_correct) {
        return Some("no finding has the expected kind, severity and lines");
    }
    let other_line = output
        .reports
        .iter()
        .filter(|report| report.severity == "error")
        .any(|report| !report.lines.iter().all(is_marked));
    other_line.then_some("a finding names a correct line")
}

#[test]
fn every_bug_is_reported_on_its_line() {
    let mut failures = String::new();
    for case in cases::all() {
        let output = run(&[case.source.name]);
        if let Some(reason) = problem(&case, &output) {
            let _ = write!(
                failures,
                "{}: {reason}\n{}\n\n",
                case.source.name, output.stderr
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn twins_are_not_reported() {
    let mut failures = String::new();
    for case in cases::all() {
        let output = run(&[case.source.name, "--right"]);
        if !output.reports.is_empty() || output.code != Some(0) {
            let _ = write!(failures, "{}: {}\n\n", case.source.name, output.stderr);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn reports_are_deterministic() {
    for name in [
        "ragged-tile-unset",
        "histogram-without-atomics",
        "sum-without-atomics",
    ] {
        assert_eq!(run(&[name]).stderr, run(&[name]).stderr);
    }
}

#[test]
fn leak_reports_give_the_size_in_bytes() {
    for (name, leaks) in [
        ("leak-result", 1),
        ("leak-in-loop", 3),
        ("leak-pointed-to", 1),
    ] {
        let output = run(&[name]).stderr;
        assert_eq!(
            output.matches("400-byte allocation").count(),
            leaks,
            "{output}"
        );
    }
}
