//! What `main.rs`, the chapter, is made of: the access patterns, and what is around the GPU's
//! work.

pub mod addition;
pub mod flags;
pub mod inputs;
pub mod ladder;
pub mod open;
pub mod pattern;
pub mod reference;
pub mod shape;
pub mod variant;

pub use addition::Addition;
pub use flags::Flags;
pub use pattern::NUM_VALUES;
pub use variant::Values;
