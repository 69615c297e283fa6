//! The modules that the chapter's program, `main.rs`, uses: scene, picture, reference and ladder.

pub mod flags;
pub mod ladder;
pub mod open;
pub mod picture;
pub mod reference;
pub mod scene;
pub mod variant;

pub use flags::Flags;
pub use picture::{Picture, Pixel};
pub use scene::ConstantBank;
pub use variant::Spheres;
