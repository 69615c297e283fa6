//! The program under the simulator's checks: each planted bug is reported with the correct kind and line,
//! and no twin is reported.

use std::fmt::Write as _;
use std::process::Command;

use planted_bugs::cases::{self, Case, Kind};

/// Cases that are intended in some programs, or that hardware tolerates: the check only warns.
const WARNINGS: [&str; 3] = [
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

/// A run of the program with all checks.
struct Run {
    code: Option<i32>,
    stderr: String,
    reports: Vec<Report>,
}

/// A report: a line such as `error: race: …` or `illegal address: …`, followed by indented lines.
struct Report {
    /// `error` or `warning`.
    severity: String,
    check: Kind,
    /// The file that the report names; empty for a leak.
    file: String,
    /// The reported lines: the access itself and, for a data race, the other access.
    lines: Vec<usize>,
}

/// Prefixes of reports of faults that ended the kernel, and the check each belongs to.
const FAULTS: [(&str, Kind); 5] = [
    ("illegal address: ", Kind::Mem),
    ("misaligned address: ", Kind::Mem),
    ("stack overflow: ", Kind::Mem),
    ("barrier ", Kind::Sync),
    ("invalid barrier: ", Kind::Sync),
];

/// Runs the program on the simulator.
fn run(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_planted-bugs"))
        .args(arguments)
        .env("CUDA_BACKEND", "sim")
        .env("CUDA_SIM_CHECK", "all")
        .env_remove("CUDA_SIM_DEVICE")
        .output()
        .expect("cannot start the program");
    let stderr = String::from_utf8(output.stderr).expect("stderr is not UTF-8");
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run {
        code: output.status.code(),
        reports: reports(&stderr),
        stderr,
    }
}

fn reports(stderr: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for line in stderr.lines() {
        if let Some(report) = first_line(line) {
            reports.push(report);
        } else if let Some(report) = reports.last_mut()
            && line.starts_with("  ")
            && let Some((file, number)) = location(line)
        {
            report.file = file;
            report.lines.push(number);
        }
    }
    reports
}

/// Parses a report's first line, which starts with the simulator's name.
fn first_line(line: &str) -> Option<Report> {
    let line = line.strip_prefix("warpbook: ")?;
    let fault = FAULTS.iter().find(|(start, _)| line.starts_with(start));
    let (severity, check) = match fault {
        Some((_, check)) => ("error", *check),
        None => {
            let (severity, rest) = line.split_once(": ")?;
            let (check, _) = rest.split_once(": ")?;
            (severity, check.parse().ok()?)
        }
    };
    Some(Report {
        severity: severity.to_owned(),
        check,
        file: String::new(),
        lines: Vec::new(),
    })
}

/// Parses the location in a line such as `  at FILE:LINE`, `  reads at FILE:LINE` or
/// `  block (0, 0, 0), thread (3, 0, 0) writes at FILE:LINE`. Other lines may name locations too, but those
/// of correct code.
fn location(line: &str) -> Option<(String, usize)> {
    let (before, location) = line.split_once("at kernels/")?;
    let before = before.trim();
    if !["", "reads", "writes", "updates atomically"].contains(&before)
        && !before.starts_with("block ")
    {
        return None;
    }
    let (file, rest) = location.split_once(':')?;
    let number = rest.split(' ').next()?.parse().ok()?;
    Some((format!("kernels/{file}"), number))
}
