//! Modules of the chapter in `main.rs`: verified copies to and from the variables of a module.

pub mod flags;
pub mod open;
pub mod steps;
pub mod summary;
pub mod values;
pub mod variable;

pub use flags::Flags;
pub use summary::Symbols;
pub use variable::Variable;
