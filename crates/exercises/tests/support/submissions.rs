//! Submissions stored in the exercises' folders, and their expected verdicts.

use std::fs;
use std::path::{Path, PathBuf};

use exercises::course::Exercise;
use exercises::text::{columns, fit};
use libtest_mimic::{Failed, Trial};

use super::{Program, with_clang};

const CRATE_DIR: &str = env!("CARGO_MANIFEST_DIR");

/// The start of the first line of a submission that must be rejected, followed by the names of steps.
const REJECTED_AT: &str = "// Rejected at: ";

/// The start of the second line of such a submission, followed by a part of the message that explains the
/// error. The part does not depend on the compiler or on addresses.
const MESSAGE_PART: &str = "// Says: ";

/// Returns the folder of an exercise.
pub fn folder(exercise: &Exercise) -> PathBuf {
    Path::new(CRATE_DIR)
        .join("../../kernels/exercises")
        .join(exercise.name())
}

/// Returns a test for each submission in the folder `kind` of an exercise, which must pass.
pub fn passing_submissions(kind: &str, exercise: &'static Exercise) -> Vec<Trial> {
    for_each_submission(kind, exercise, passes)
}

/// Returns a test for each submission in the folder `kind` of an exercise, which must be rejected at the step in
/// its first line, or at one of several steps if the first to fail depends on the compiler or on chance. The
/// message must contain the text in the second line.
pub fn rejected_submissions(kind: &str, exercise: &'static Exercise) -> Vec<Trial> {
    for_each_submission(kind, exercise, |exercise, file| {
        let text = fs::read_to_string(file)?;
        let mut lines = text.lines();
        let mut line_after = |start| lines.next().and_then(|line| line.strip_prefix(start));
        let steps = line_after(REJECTED_AT);
        let steps = steps.ok_or(format!("its first line is not '{REJECTED_AT}' and a step"))?;
        let part = line_after(MESSAGE_PART).filter(|part| !part.is_empty());
        let part = part.ok_or(format!(
            "its second line is not '{MESSAGE_PART}' and a part of its message"
        ))?;
        let message = message(exercise, file, steps)?;
        // Compare words, because messages have line breaks and alignment.
        let one_line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if !one_line.contains(part) {
            return Err(format!("the message does not contain '{part}':\n{message}").into());
        }
        Ok(())
    })
}

fn for_each_submission(
    kind: &str,
    exercise: &'static Exercise,
    test: fn(&Exercise, &Path) -> Result<(), Failed>,
) -> Vec<Trial> {
    let entries = fs::read_dir(folder(exercise).join(kind))
        .into_iter()
        .flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let trial = |file: PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}: {kind}: {name}", exercise.name());
        with_clang(name, move || test(exercise, &file))
    };
    files.into_iter().map(trial).collect()
}

/// The maximum number of lines of 80 columns in a message; longer messages are not read.
const MAX_LINES: usize = 25;

/// Checks that a file passes as a submission to an exercise.
pub fn passes(exercise: &Exercise, file: &Path) -> Result<(), Failed> {
    let (code, record) = Program::new().grade(exercise.name(), file);
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
    let (code, record) = Program::new().grade(exercise.name(), file);
    let step = record["step"].as_str();
    if code != 1 || step.is_none_or(|at| steps.split(", ").all(|step| step != at)) {
        return Err(format!("not rejected at {steps}, exit code {code}: {record:#}").into());
    }
    let [en, zh] = ["en", "zh"].map(|lang| record["messages"][lang].as_str().unwrap_or_default());
    check_layout(en)?;
    check_layout(zh)?;
    // The path of the file may contain Chinese characters.
    let path = file.to_string_lossy();
    let is_chinese = |text: &str| {
        let text = text.replace(&*path, "");
        text.contains(|character| ('\u{4e00}'..'\u{9fff}').contains(&character))
    };
    if en.is_empty() || is_chinese(en) || !is_chinese(zh) || record["message"] != en {
        return Err(format!("not in English and Chinese: {record:#}").into());
    }
    Ok(en.to_owned())
}

/// Checks that a message is short and narrow enough for a terminal.
fn check_layout(message: &str) -> Result<(), Failed> {
    let fitted = fit(message, 80);
    let (lines, max_width) = (fitted.lines().count(), fitted.lines().map(columns).max());
    if lines > MAX_LINES || max_width > Some(80) {
        return Err(format!("{lines} lines, {max_width:?} columns:\n{fitted}").into());
    }
    Ok(())
}
