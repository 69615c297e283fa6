//! What an answer in Rust is compiled against: CUDA, the types that the answer uses, and the questions that
//! the program around it is asked.
//!
//! That program runs a stranger's code, so nothing is in here that a student should not know: no reference,
//! no solution, no verdict. Data flows one way:
//!
//! ```text
//! the course: a question, such as a size  →  this program: what the student's function makes of it  →
//! the course: compares that with its own result
//! ```
//!
//! Each exercise is a module with its `Question`, its `Reply`, and the `main` of the program around an answer.

// cust calls the CUDA driver's functions, which this crate defines.
extern crate cuda_driver as _;

// For answers.
pub use {anyhow, cust};

pub mod blocks;
pub mod events;
pub mod overlap;
pub mod panics;
pub mod pitched_copy;
pub mod protocol;
mod serve;
