//! The program around a submission: replies with the result of the student's `copy`.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::pitched_copy::main(student::copy)
}
