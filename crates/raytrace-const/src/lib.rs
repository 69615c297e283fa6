//! What `main.rs`, the chapter, is made of: the scene and what is around the GPU's work.

pub mod flags;
pub mod limits;
pub mod picture;
pub mod reference;
pub mod scene;
pub mod variant;
