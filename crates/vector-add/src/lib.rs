//! The modules that the chapter's program, `main.rs`, uses: the vectors, and the measurements other than the
//! note's kernel.

pub mod copies;
pub mod flags;
pub mod free;
pub mod ladder;
pub mod open;
pub mod round_trip;
pub mod variant;
pub mod vectors;

pub use copies::Bandwidth;
pub use flags::Flags;
