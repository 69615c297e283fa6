//! The program around a submission: replies with the orders of the student's `process`.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::overlap::main(student::process)
}
