//! 03-blocks: how many blocks a launch needs.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::panics::calling;
use crate::serve::serve;

/// What the student's functions are called with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// `grid`: columns and rows.
    pub matrix: (u32, u32),
    /// `grid`: threads of a block.
    pub block: (u32, u32),
    /// `blocks`, once each: elements, and threads of a block.
    pub counts: Vec<(u32, u32)>,
}

/// What they return.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// `grid`.
    pub grid: (u32, u32),
    /// `blocks`, in order.
    pub blocks: Vec<u32>,
}

/// The program around an answer.
pub fn main(blocks: fn(u32, u32) -> u32, grid: fn(u32, u32, (u32, u32)) -> (u32, u32)) -> ExitCode {
    serve(|question: Question| {
        let (columns, rows) = question.matrix;
        let counts = question.counts.iter();
        Ok(Reply {
            grid: {
                let block = question.block;
                let call = format!("grid({columns}, {rows}, {block:?})");
                calling(call, || grid(columns, rows, block))
            },
            blocks: counts
                .map(|&(count, block)| {
                    calling(format!("blocks({count}, {block})"), || blocks(count, block))
                })
                .collect(),
        })
    })
}
