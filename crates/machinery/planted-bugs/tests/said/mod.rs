//! What the program says under the simulator's checks, read as a learner would.

use std::process::Command;

use planted_bugs::source::Kind;

/// A run of the program with all checks.
pub struct Run {
    pub code: Option<i32>,
    pub stderr: String,
    pub reports: Vec<Report>,
}

/// A report: a line as `error: race: …` or `illegal address: …`, and indented ones after it.
pub struct Report {
    /// `error` or `warning`.
    pub severity: String,
    pub check: Kind,
    /// The file that it names; of a leak none.
    pub file: String,
    /// The lines that it names: where it happened, and of a race where the other access is.
    pub lines: Vec<usize>,
}

/// How a report starts that is of what ended the kernel, and which check it is of.
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
        .expect("the program starts");
    let stderr = String::from_utf8(output.stderr).expect("it prints UTF-8");
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run {
        code: output.status.code(),
        reports: reports(&stderr),
        stderr,
    }
}

fn reports(said: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for line in said.lines() {
        if let Some(report) = first_line(line) {
            reports.push(report);
        } else if let Some(report) = reports.last_mut()
            && line.starts_with("  ")
            && let Some((file, number)) = place(line)
        {
            report.file = file;
            report.lines.push(number);
        }
    }
    reports
}

/// A report's first line. The simulator's name is before it.
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

/// The place in a line such as `  at FILE:LINE`, `  reads at FILE:LINE` or `  block (0, 0, 0),
/// thread (3, 0, 0) writes at FILE:LINE`. Other lines may name places too, but of what is right.
fn place(line: &str) -> Option<(String, usize)> {
    let (before, place) = line.split_once("at kernels/")?;
    let before = before.trim();
    if !["", "reads", "writes"].contains(&before) && !before.starts_with("block ") {
        return None;
    }
    let (file, rest) = place.split_once(':')?;
    let number = rest.split(' ').next()?.parse().ok()?;
    Some((format!("kernels/{file}"), number))
}
