//! 10-pitched-copy: a copy in two dimensions.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::serve::serve;

/// A part of a matrix of floats on the host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Floats of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Floats from the start of a row to that of the next: as many as the whole matrix is wide.
    pub stride: usize,
}

/// What a copy in two dimensions is told, but for the addresses: the arguments of `cudaMemcpy2D`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Copy2d {
    /// Bytes from the start of a row to that of the next, where it goes to.
    pub destination_pitch: usize,
    /// Bytes from the start of a row to that of the next, where it comes from.
    pub source_pitch: usize,
    /// Bytes of each row that are copied.
    pub width: usize,
    /// Rows that are copied.
    pub height: usize,
}

/// What the student's function is called with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// What is to be copied.
    pub part: Part,
    /// Bytes from the start of a row to that of the next, where it is copied to.
    pub pitch: usize,
}

/// What it returns.
pub type Reply = Copy2d;

/// The program around an answer.
pub fn main(copy: fn(Part, usize) -> Copy2d) -> ExitCode {
    serve(|Question { part, pitch }| Ok(copy(part, pitch)))
}
