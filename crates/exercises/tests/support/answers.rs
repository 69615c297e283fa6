//! Submissions stored next to the tests, and their expected verdicts.

use std::fs;
use std::path::{Path, PathBuf};

use exercises::exercise::Exercise;
use exercises::text::{columns, fitted};
use libtest_mimic::{Failed, Trial};

use super::{Program, with_clang};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The start of the first line of a submission that must be rejected, followed by the names of steps.
const REJECTED: &str = "// Rejected at: ";

/// The start of the second line of such a submission, followed by a part of the message that explains the
/// error. The part does not depend on the compiler or on addresses.
const SAYS: &str = "// Says: ";

/// Returns a test for each submission to an exercise in `tests/FOLDER`, which must pass.
pub fn that_pass(folder: &str, exercise: &'static Exercise) -> Vec<Trial> {
    of_each(folder, exercise, passes)
}

/// Returns a test for each submission to an exercise in `tests/FOLDER`, which must be rejected at the step in
/// its first line, or at one of several steps if the first to fail depends on the compiler or on chance. The
/// message must contain the text in the second line.
pub fn that_are_rejected(folder: &str, exercise: &'static Exercise) -> Vec<Trial> {
    of_each(folder, exercise, |exercise, file| {
        let text = fs::read_to_string(file)?;
        let mut lines = text.lines();
        let mut behind = |start| lines.next().and_then(|line| line.strip_prefix(start));
        let steps = behind(REJECTED);
        let steps = steps.ok_or(format!("its first line is not '{REJECTED}' and a step"))?;
        let says = behind(SAYS).filter(|says| !says.is_empty());
        let says = says.ok_or(format!(
            "its second line is not '{SAYS}' and a part of its message"
        ))?;
        let message = message(exercise, file, steps)?;
        // Compare words, because messages have line breaks and alignment.
        let one_line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if !one_line.contains(says) {
            return Err(format!("it does not say '{says}':\n{message}").into());
        }
        Ok(())
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

/// The maximum number of lines of 80 columns in a message; longer messages are not read.
const LONGEST: usize = 25;

/// Checks that a file passes as a submission to an exercise.
pub fn passes(exercise: &Exercise, file: &Path) -> Result<(), Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    match (code, record["passed"].as_bool()) {
        (0, Some(true)) => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

/// Checks that a file is rejected as a submission to an exercise, at one of these steps: `right, checks`.
pub fn rejected(exercise: &Exercise, file: &Path, steps: &str) -> Result<(), Failed> {
    message(exercise, file, steps).map(|_| ())
}

/// Checks that a file is rejected at one of these steps. Returns the message in English.
fn message(exercise: &Exercise, file: &Path, steps: &str) -> Result<String, Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    let step = record["step"].as_str();
    if code != 1 || step.is_none_or(|at| steps.split(", ").all(|step| step != at)) {
        return Err(format!("not rejected at {steps}, exit code {code}: {record:#}").into());
    }
    let [en, zh] = ["en", "zh"].map(|lang| record["messages"][lang].as_str().unwrap_or_default());
    fits(en)?;
    fits(zh)?;
    // The path of the file may contain Chinese characters.
    let path = file.to_string_lossy();
    let is_chinese = |text: &str| {
        let text = text.replace(&*path, "");
        text.contains(|it| ('\u{4e00}'..'\u{9fff}').contains(&it))
    };
    if en.is_empty() || is_chinese(en) || !is_chinese(zh) || record["message"] != en {
        return Err(format!("not in English and Chinese: {record:#}").into());
    }
    Ok(en.to_owned())
}

/// Checks that a message is short and narrow enough for a terminal.
fn fits(message: &str) -> Result<(), Failed> {
    let shown = fitted(message, 80);
    let (lines, wide) = (shown.lines().count(), shown.lines().map(columns).max());
    if lines > LONGEST || wide > Some(80) {
        return Err(format!("{lines} lines, {wide:?} columns:\n{shown}").into());
    }
    Ok(())
}
