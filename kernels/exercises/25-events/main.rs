//! Times a kernel with the student's function.

#![forbid(unsafe_code)]

use std::process::ExitCode;

mod student;

fn main() -> ExitCode {
    exercises::worker::main(&exercises::course::events::Events(student::median_ms))
}
