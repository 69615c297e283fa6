//! The instrumented copies of a program's code: the same instructions at the same addresses, with handlers
//! that count, check or suspend before they run the plain instruction.

pub mod counting;
pub mod random_schedule;
pub mod sanitizing;
