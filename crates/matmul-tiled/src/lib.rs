//! What `main.rs`, the chapter, is made of. The matrices, pitched memory and the reference are
//! `matmul-pitched`'s.

pub mod accesses;
pub mod cublas;
pub mod flags;
pub mod ladder;
pub mod open;
pub mod plan;
pub mod shares;
pub mod split;
pub mod tf32;
pub mod tile;
pub mod variant;

pub use accesses::Accesses;
pub use flags::Flags;
