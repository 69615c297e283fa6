//! What follows from a function's control flow graph: which loads become one, which blocks are
//! predicated, which registers the warps of a block have in common.

pub mod common;
pub mod predicated;
pub mod repeated;
pub mod steps;
pub mod wide;
