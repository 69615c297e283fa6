//! What `main.rs`, the chapter, is made of: copies to and from a module's variables, checked.

pub mod flags;
pub mod steps;
pub mod summary;
pub mod values;
pub mod variable;
