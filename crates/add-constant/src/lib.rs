//! What `main.rs`, the chapter, is made of: the access patterns, the kernels and what is
//! around the GPU's work.

pub mod addition;
pub mod flags;
pub mod inputs;
pub mod pattern;
pub mod reference;
pub mod variant;
