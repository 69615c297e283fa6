//! What `main.rs`, the chapter, is made of: the vectors, and the kinds of copies.

pub mod copies;
pub mod flags;
pub mod free;
pub mod moved;
pub mod vectors;
