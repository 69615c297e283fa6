//! Modules of the chapter in `main.rs`.

pub mod flags;
pub mod open;
pub mod reference;

pub use flags::Flags;
