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

/// Before a part of the message, in the second line of such an answer: what tells its author what is wrong. It is
/// the same whatever the compiler and wherever memory lies.
const SAYS: &str = "// Says: ";

/// A test for each answer to an exercise in `tests/FOLDER`, which has to pass.
pub fn that_pass(folder: &str, exercise: &'static Exercise) -> Vec<Trial> {
    of_each(folder, exercise, passes)
}

/// A test for each answer to an exercise in `tests/FOLDER`, which has to be rejected where its first line
/// says: at a step, or at one of several where it depends on the compiler or on luck which comes first. Its message has to contain what
/// the second line says.
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
        // A message has lines of its own, and words in several blanks.
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
    message(exercise, file, steps).map(|_| ())
}

/// The same, and what is said then, in English.
fn message(exercise: &Exercise, file: &Path, steps: &str) -> Result<String, Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    let step = record["step"].as_str();
    if code != 1 || step.is_none_or(|at| steps.split(", ").all(|step| step != at)) {
        return Err(format!("not rejected at {steps}, exit code {code}: {record:#}").into());
    }
    let [en, zh] = ["en", "zh"].map(|lang| record["messages"][lang].as_str().unwrap_or_default());
    fits(en)?;
    fits(zh)?;
    // The file's own folder may have a name in Chinese.
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

/// A message is no longer and no wider than anybody reads, in columns of a terminal.
fn fits(message: &str) -> Result<(), Failed> {
    let shown = fitted(message, 80);
    let (lines, wide) = (shown.lines().count(), shown.lines().map(columns).max());
    if lines > LONGEST || wide > Some(80) {
        return Err(format!("{lines} lines, {wide:?} columns:\n{shown}").into());
    }
    Ok(())
}
