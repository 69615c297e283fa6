//! The interface of exercise 03-blocks: the number of blocks of a launch.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::panics::with_call;
use crate::protocol::serve;

/// The arguments of the student's functions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The columns and rows passed to `grid`.
    pub matrix: (u32, u32),
    /// The threads per block passed to `grid`.
    pub block: (u32, u32),
    /// The arguments of the calls of `blocks`: elements, and threads per block.
    pub counts: Vec<(u32, u32)>,
}

/// The return values of the student's functions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The return value of `grid`.
    pub grid: (u32, u32),
    /// The return values of `blocks`, in order.
    pub blocks: Vec<u32>,
}

/// Runs the program around a submission.
pub fn main(blocks: fn(u32, u32) -> u32, grid: fn(u32, u32, (u32, u32)) -> (u32, u32)) -> ExitCode {
    serve(
        || Ok(()),
        |(), request: Request| {
            let (columns, rows) = request.matrix;
            let counts = request.counts.iter();
            Ok(Reply {
                grid: {
                    let block = request.block;
                    let call = format!("grid({columns}, {rows}, {block:?})");
                    with_call(call, || grid(columns, rows, block))
                },
                blocks: counts
                    .map(|&(count, block)| {
                        with_call(format!("blocks({count}, {block})"), || blocks(count, block))
                    })
                    .collect(),
            })
        },
    )
}
