//! The modules that the chapter's program, `main.rs`, uses. Matrices, pitched memory and the reference come
//! from `matmul-pitched`.

pub mod accesses;
pub mod cublas;
pub mod flags;
pub mod ladder;
pub mod open;
pub mod plan;
pub mod tf32;
pub mod tile;
pub mod variant;

pub use accesses::Accesses;
pub use flags::Flags;
