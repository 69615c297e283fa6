//! The modules that the chapter's program, `main.rs`, uses: the access patterns, the reference and the ladder.

pub mod addition;
pub mod flags;
pub mod inputs;
pub mod ladder;
pub mod open;
pub mod pattern;
pub mod reference;
pub mod variant;

pub use addition::Addition;
pub use flags::Flags;
pub use pattern::NUM_VALUES;
pub use variant::Values;
