//! Has the course use a student's `blocks` and `grid`.

#![forbid(unsafe_code)]

mod student;

use std::process::ExitCode;

use exercises::course::blocks::Blocks;

fn main() -> ExitCode {
    exercises::worker::main(&Blocks {
        blocks: student::blocks,
        grid: student::grid,
    })
}
