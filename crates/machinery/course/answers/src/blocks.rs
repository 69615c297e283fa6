//! The interface of exercise 03-blocks: the number of blocks of a launch.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::protocol::{serve, with_call};

/// The arguments of the student's functions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The arguments of the calls of `grid`: columns, rows, and threads per block along x and y.
    pub matrices: Vec<(u32, u32, (u32, u32))>,
    /// The arguments of the calls of `blocks`: elements, and threads per block.
    pub counts: Vec<(u32, u32)>,
}

/// The return values of the student's functions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The return values of `grid`, in order.
    pub grids: Vec<(u32, u32)>,
    /// The return values of `blocks`, in order.
    pub blocks: Vec<u32>,
}

/// Runs the program around a submission.
pub fn main(blocks: fn(u32, u32) -> u32, grid: fn(u32, u32, (u32, u32)) -> (u32, u32)) -> ExitCode {
    serve(
        || Ok(()),
        |(), request: Request| {
            let matrices = request.matrices.iter();
            let counts = request.counts.iter();
            Ok(Reply {
                grids: matrices
                    .map(|&(columns, rows, block)| {
                        let call = format!("grid({columns}, {rows}, {block:?})");
                        with_call(call, || grid(columns, rows, block))
                    })
                    .collect(),
                blocks: counts
                    .map(|&(count, block)| {
                        with_call(format!("blocks({count}, {block})"), || blocks(count, block))
                    })
                    .collect(),
            })
        },
    )
}
