//! Has the course make a student's copy.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

use exercises::course::pitched_copy::PitchedCopy;

fn main() -> ExitCode {
    exercises::worker::main(&PitchedCopy(student::copy))
}
