//! Replies with what a student's `blocks` and `grid` return.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

fn main() -> ExitCode {
    answers::blocks::main(student::blocks, student::grid)
}
