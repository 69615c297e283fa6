//! The interface of exercise 10-pitched-copy: a two-dimensional copy.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::protocol::serve;

/// A part of a matrix of floats on the host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Floats per row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The distance between the starts of consecutive rows in floats, which is the width of the whole matrix.
    pub stride: usize,
}

/// The arguments of `cudaMemcpy2D`, without the addresses.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Copy2d {
    /// The distance between the starts of consecutive rows in the destination, in bytes.
    pub destination_pitch: usize,
    /// The distance between the starts of consecutive rows in the source, in bytes.
    pub source_pitch: usize,
    /// The number of bytes copied per row.
    pub width: usize,
    /// The number of rows copied.
    pub height: usize,
}

/// The arguments of the student's function.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The part to copy.
    pub part: Part,
    /// The distance between the starts of consecutive rows in the destination, in bytes.
    pub pitch: usize,
}

/// The return value of the student's function.
pub type Reply = Copy2d;

/// Runs the program around a submission.
pub fn main(copy: fn(Part, usize) -> Copy2d) -> ExitCode {
    serve(
        || Ok(()),
        |(), Request { part, pitch }| Ok(copy(part, pitch)),
    )
}
