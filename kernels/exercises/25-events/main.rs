//! The program around a submission: replies with the time measured by the student's `median_ms`.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::events::main(student::median_ms)
}
