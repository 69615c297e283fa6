//! The program around a submission: replies with the results of the student's `blocks` and `grid`.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::blocks::main(student::blocks, student::grid)
}
