//! Replies with what a student's `copy` returns.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::pitched_copy::main(student::copy)
}
