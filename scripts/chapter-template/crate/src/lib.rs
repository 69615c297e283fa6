//! What `main.rs`, the chapter, is made of.

pub mod flags;
pub mod open;
pub mod reference;

pub use flags::Flags;
