//! What `main.rs`, the chapter, is made of: copies to and from a module's variables, checked.

pub mod flags;
pub mod open;
pub mod steps;
pub mod summary;
pub mod values;
pub mod variable;

pub use flags::Flags;
pub use summary::Symbols;
pub use variable::Variable;
