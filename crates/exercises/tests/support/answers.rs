//! Answers that lie beside the tests, and the verdicts that they deserve.

use std::fs;
use std::path::{Path, PathBuf};

use exercises::exercise::Exercise;
use exercises::text::{columns, fitted};
use libtest_mimic::{Failed, Trial};

use super::{Program, with_clang};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Before the names of steps, in the first line of an answer that does not deserve to pass.
const REJECTED: &str = "// Rejected at: ";

/// A test for each answer to an exercise in `tests/FOLDER`, which has to pass.
pub fn that_pass(folder: &str, exercise: &'static Exercise) -> Vec<Trial> {
    of_each(folder, exercise, passes)
}

/// A test for each answer to an exercise in `tests/FOLDER`, which has to be rejected where its first line
/// says: at a step, or at one of several where it depends on the compiler or on luck which comes first.
pub fn that_are_rejected(folder: &str, exercise: &'static Exercise) -> Vec<Trial> {
    of_each(folder, exercise, |exercise, file| {
        let text = fs::read_to_string(file)?;
        let first = text.lines().next().unwrap_or_default();
        let steps = first.strip_prefix(REJECTED);
        let steps = steps.ok_or(format!("its first line is not '{REJECTED}' and a step"))?;
        rejected(exercise, file, steps)
    })
}

fn of_each(
    folder: &str,
    exercise: &'static Exercise,
    test: fn(&Exercise, &Path) -> Result<(), Failed>,
) -> Vec<Trial> {
    let there = Path::new(HERE).join("tests").join(folder);
    let entries = fs::read_dir(there.join(exercise.name))
        .into_iter()
        .flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let trial = |file: PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}: {folder}: {name}", exercise.name);
        with_clang(name, move || test(exercise, &file))
    };
    files.into_iter().map(trial).collect()
}

/// As many lines of 80 columns a message has at most: more nobody reads.
const LONGEST: usize = 25;

/// A file passes as the answer to an exercise.
pub fn passes(exercise: &Exercise, file: &Path) -> Result<(), Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    match (code, record["passed"].as_bool()) {
        (0, Some(true)) => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

/// A file is rejected as the answer to an exercise, at one of these steps: `right, checks`.
pub fn rejected(exercise: &Exercise, file: &Path, steps: &str) -> Result<(), Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    let message = record["message"].as_str().unwrap_or_default();
    let shown = fitted(message, 80);
    let (lines, wide) = (shown.lines().count(), shown.lines().map(columns).max());
    if lines > LONGEST || wide > Some(80) {
        return Err(format!("{lines} lines, {wide:?} columns:\n{shown}").into());
    }
    match (code, record["step"].as_str()) {
        (1, Some(at)) if steps.split(", ").any(|step| step == at) && !message.is_empty() => Ok(()),
        _ => Err(format!("not rejected at {steps}, exit code {code}: {record:#}").into()),
    }
}
