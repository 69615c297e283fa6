//! What `main.rs`, the chapter, is made of: the vectors, and what is measured beside their sum.

pub mod copies;
pub mod flags;
pub mod free;
pub mod ladder;
pub mod moved;
pub mod open;
pub mod round_trip;
pub mod variant;
pub mod vectors;

pub use flags::Flags;
pub use moved::Moved;
