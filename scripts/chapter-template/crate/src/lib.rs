//! The modules that the chapter's program, `main.rs`, uses.

pub mod flags;
pub mod open;
pub mod reference;

pub use flags::Flags;
