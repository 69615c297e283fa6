//! The modules that the chapter's program, `main.rs`, uses: the matrices and the reference. The
//! chapter `matmul-tiled` computes the same product and reuses them.

pub mod flags;
pub mod ladder;
pub mod matrix;
pub mod open;
pub mod pitches;
pub mod rate;
pub mod reference;
pub mod variant;

pub use flags::Flags;
pub use matrix::Matrix;
pub use pitches::Pitches;
pub use rate::Rate;
