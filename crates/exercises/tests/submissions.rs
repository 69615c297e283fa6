//! Every exercise through the program: its start file is rejected at the step that its data names, its
//! solution passes, and each wrong submission in `tests/wrong` is rejected at the step in its first line.
//!
//! The tests need clang and are ignored without it.

mod support;

use std::path::Path;
use std::process::ExitCode;

use exercises::course::EXERCISES;
use exercises::exercise::Exercise;
use libtest_mimic::{Arguments, Trial};
use support::submissions::{passes, rejected, rejected_submissions};
use support::with_clang;

const CRATE_DIR: &str = env!("CARGO_MANIFEST_DIR");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = EXERCISES.iter().flat_map(tests_of).collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn tests_of(exercise: &'static Exercise) -> Vec<Trial> {
    let folder = Path::new(CRATE_DIR).join("../../kernels/exercises");
    let start = folder
        .join(exercise.name)
        .join(format!("start.{}", exercise.extension()));
    let solution = folder
        .join(exercise.name)
        .join(format!("solution.{}", exercise.extension()));
    let mut tests = vec![
        with_clang(format!("{}: start", exercise.name), move || {
            let step = exercise.data()?.rejected_at.name();
            rejected(exercise, &start, step)
        }),
        with_clang(format!("{}: solution", exercise.name), move || {
            passes(exercise, &solution)
        }),
    ];
    tests.extend(rejected_submissions("wrong", exercise));
    tests
}
