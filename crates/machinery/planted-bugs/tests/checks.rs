//! The real program under the simulator's checks: every mistake is found, of the right kind and on
//! the right line, and no twin is spoken of.

mod said;

use std::fmt::Write as _;

use planted_bugs::cases::{self, Case};
use said::{Report, Run, run};

/// Mistakes that a program may make on purpose, or that hardware does not mind: a check warns.
const WARNINGS: [&str; 6] = [
    "sum-without-atomics",
    "stencil-in-place",
    "last-block",
    "warp-without-syncwarp",
    "shuffle-in-branch",
    "vote-after-return",
];

/// What is wrong with what was said of a mistake; nothing where all is right.
fn missed(case: &Case, said: &Run) -> Option<&'static str> {
    let name = case.source.name;
    let severity = if WARNINGS.contains(&name) {
        "warning"
    } else {
        "error"
    };
    if said.reports.is_empty() {
        return Some("nothing was found");
    }
    let marks = &case.marks;
    let marked = |line: &usize| marks.lines.contains(line) || marks.with.contains(line);
    let names_it = |report: &Report| {
        let lines = &report.lines;
        let kind = report.check == case.marks.kind && report.severity == severity;
        let there = report.file == case.source.file
            && lines.iter().any(|line| marks.lines.contains(line))
            && lines.iter().all(marked);
        kind && (there || marks.kind.is_of_host())
    };
    if !said.reports.iter().any(names_it) {
        return Some("it was not found as what it is, where it is");
    }
    let beside = said
        .reports
        .iter()
        .filter(|report| report.severity == "error")
        .any(|report| !report.lines.iter().all(marked));
    beside.then_some("a line was named that is right")
}

#[test]
fn every_mistake_is_found_on_its_line() {
    let mut wrong = String::new();
    for case in cases::all() {
        let said = run(&[case.source.name]);
        if let Some(why) = missed(&case, &said) {
            let _ = write!(wrong, "{}: {why}\n{}\n\n", case.source.name, said.stderr);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn twins_are_not_spoken_of() {
    let mut wrong = String::new();
    for case in cases::all() {
        let said = run(&[case.source.name, "--right"]);
        if !said.reports.is_empty() || said.code != Some(0) {
            let _ = write!(wrong, "{}: {}\n\n", case.source.name, said.stderr);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_same_is_said_every_time() {
    for name in [
        "ragged-tile-unset",
        "histogram-without-atomics",
        "sum-without-atomics",
    ] {
        assert_eq!(run(&[name]).stderr, run(&[name]).stderr);
    }
}

#[test]
fn a_leak_is_told_in_bytes() {
    for (name, leaks) in [
        ("leak-result", 1),
        ("leak-in-loop", 3),
        ("leak-pointed-to", 1),
    ] {
        let said = run(&[name]).stderr;
        assert_eq!(said.matches("400-byte allocation").count(), leaks, "{said}");
    }
}
