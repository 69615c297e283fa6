//! Every exercise through the program: its start file is rejected at the step that its data names, its
//! solution passes, and each submission in its folder `wrong` is rejected at the step in its first line.
//!
//! The tests need clang and are ignored without it.

mod support;

use std::process::ExitCode;

use exercises::course::Exercise;
use libtest_mimic::{Arguments, Trial};
use support::submissions::{folder, passes, rejected, rejected_submissions};
use support::{EXERCISES, with_clang};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = EXERCISES.iter().flat_map(tests_of).collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn tests_of(exercise: &'static Exercise) -> Vec<Trial> {
    let file = |name: &str| folder(exercise).join(format!("{name}.{}", exercise.extension()));
    let (start, solution) = (file("start"), file("solution"));
    let mut tests = vec![
        with_clang(format!("{}: start", exercise.name()), move || {
            let step = exercise.data().rejected_at.name();
            rejected(exercise, &start, step)
        }),
        with_clang(format!("{}: solution", exercise.name()), move || {
            passes(exercise, &solution)
        }),
    ];
    tests.extend(rejected_submissions("wrong", exercise));
    tests
}
