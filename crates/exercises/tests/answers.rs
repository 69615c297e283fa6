//! Every exercise: its start file is rejected where its data says, its solution passes, and each wrong
//! answer in `tests/wrong` is rejected where its first line says. A test for each, through the program.
//!
//! They take clang; where there is none they are ignored.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use exercises::course::EXERCISES;
use exercises::exercise::Exercise;
use libtest_mimic::{Arguments, Failed, Trial};
use support::{Program, with_clang};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Before the name of a step, in the first line of a wrong answer.
const REJECTED: &str = "// Rejected at: ";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = EXERCISES.iter().flat_map(tests_of).collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn tests_of(exercise: &'static Exercise) -> Vec<Trial> {
    let folder = Path::new(HERE).join("../../kernels/exercises");
    let start = folder
        .join(exercise.name)
        .join(format!("start.{}", exercise.extension()));
    let solution = folder.join("solutions").join(exercise.file());
    let mut tests = vec![
        with_clang(format!("{}: start", exercise.name), move || {
            let step = exercise.data()?.rejected_at.name();
            rejected(exercise, &start, step)
        }),
        with_clang(format!("{}: solution", exercise.name), move || {
            passes(exercise, &solution)
        }),
    ];
    for file in wrong_answers(exercise) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}: {name}", exercise.name);
        tests.push(with_clang(name, move || {
            let text = fs::read_to_string(&file)?;
            let first = text.lines().next().unwrap_or_default();
            let step = first.strip_prefix(REJECTED);
            let step = step.ok_or(format!("its first line is not '{REJECTED}' and a step"))?;
            rejected(exercise, &file, step)
        }));
    }
    tests
}

fn wrong_answers(exercise: &Exercise) -> Vec<PathBuf> {
    let folder = Path::new(HERE).join("tests/wrong").join(exercise.name);
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn passes(exercise: &Exercise, file: &Path) -> Result<(), Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    match (code, record["passed"].as_bool()) {
        (0, Some(true)) => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

fn rejected(exercise: &Exercise, file: &Path, step: &str) -> Result<(), Failed> {
    let (code, record) = Program::new().graded(exercise.name, file);
    let message = record["message"].as_str().unwrap_or_default();
    match (code, record["step"].as_str()) {
        (1, Some(at)) if at == step && !message.is_empty() => Ok(()),
        _ => Err(format!("not rejected at {step}, exit code {code}: {record:#}").into()),
    }
}
