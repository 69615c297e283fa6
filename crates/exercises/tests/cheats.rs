//! Submissions that test the grader. Those in an exercise's folder `cheats` try to pass without doing the required work: by
//! uncounted accesses, by work in a single block, by luck. Each is rejected at the step in its first line.
//! Those in the folder `right` solve the exercise in another way than the solution, and each passes.
//!
//! The tests need clang and are ignored without it.

mod support;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use support::EXERCISES;
use support::submissions::{passing_submissions, rejected_submissions};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests_of = |exercise| {
        [
            rejected_submissions("cheats", exercise),
            passing_submissions("right", exercise),
        ]
    };
    let tests = EXERCISES.iter().flat_map(tests_of).flatten().collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}
