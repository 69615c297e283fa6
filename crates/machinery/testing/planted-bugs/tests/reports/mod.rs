//! Runs the program under the simulator's checks, and parses its reports.

use std::process::Command;

use planted_bugs::source::Kind;

/// A run of the program with all checks.
pub struct Run {
    pub code: Option<i32>,
    pub stderr: String,
    pub reports: Vec<Report>,
}

/// A report: a line such as `error: race: …` or `illegal address: …`, followed by indented lines.
pub struct Report {
    /// `error` or `warning`.
    pub severity: String,
    pub check: Kind,
    /// The file that the report names; empty for a leak.
    pub file: String,
    /// The reported lines: the access itself and, for a data race, the other access.
    pub lines: Vec<usize>,
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
pub fn run(arguments: &[&str]) -> Run {
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
    if !["", "reads", "writes"].contains(&before) && !before.starts_with("block ") {
        return None;
    }
    let (file, rest) = location.split_once(':')?;
    let number = rest.split(' ').next()?.parse().ok()?;
    Some((format!("kernels/{file}"), number))
}
