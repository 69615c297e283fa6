//! A pass is earned. `tests/earned` has answers that are after a pass without doing what is asked: by
//! accesses that nobody counts, by work in one block, by luck. Each is rejected where its first line
//! says. `tests/right` has answers that do it in another way than the solution: each passes.
//!
//! They take clang; where there is none they are ignored.

mod support;

use std::process::ExitCode;

use exercises::course::EXERCISES;
use libtest_mimic::Arguments;
use support::answers::{that_are_rejected, that_pass};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let of = |exercise| {
        [
            that_are_rejected("earned", exercise),
            that_pass("right", exercise),
        ]
    };
    let tests = EXERCISES.iter().flat_map(of).flatten().collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}
