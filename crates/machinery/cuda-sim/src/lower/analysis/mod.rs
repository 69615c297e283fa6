//! What follows from a function's control flow graph: which loads become one, which blocks are
//! predicated, which registers the warps of a block have in common,
//! which loads may wait for another thread, what becomes of atomics,
//! which array an access means, whether a shuffled value is used.

pub mod arrays;
pub mod common;
pub mod polls;
pub mod predicated;
pub mod repeated;
pub mod shuffles;
pub mod steps;
pub mod updates;
pub mod wide;
