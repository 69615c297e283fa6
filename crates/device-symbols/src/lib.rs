//! The modules that the chapter's program, `main.rs`, uses: verified copies to and from a module's variables.

pub mod flags;
pub mod open;
pub mod steps;
pub mod values;
pub mod variable;

pub use flags::Flags;
pub use steps::Symbols;
pub use variable::Variable;
