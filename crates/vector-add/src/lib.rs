//! What `main.rs`, the chapter, is made of: the vectors, the kinds of copies, and whole sums.

pub mod copies;
pub mod flags;
pub mod free;
pub mod moved;
pub mod round_trip;
pub mod variant;
pub mod vectors;
