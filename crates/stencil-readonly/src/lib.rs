//! What `main.rs`, the chapter, is made of: the wave, its derivative, and what is around the GPU's
//! work.

pub mod accuracy;
pub mod chunks;
pub mod flags;
pub mod reference;
pub mod scheme;
pub mod stencil;
pub mod variant;
pub mod wave;
