//! The library that Rust submissions are compiled against: CUDA, the types that submissions use, and the
//! requests that the program around a submission replies to.
//!
//! That program runs untrusted code, so this crate contains nothing that a student must not see: no
//! reference, no solution, no verdict. Data flows in one direction:
//!
//! ```text
//! grader: sends a request, such as a size  →  this program: replies with the student's result  →
//! grader: compares the result with its own
//! ```
//!
//! Each exercise has a module with its `Request`, its `Reply`, and the `main` of the program around a
//! submission.

// The crate cust calls the CUDA driver's functions, which `cuda_driver` defines.
extern crate cuda_driver as _;

// For use by submissions.
pub use {anyhow, cust};

pub mod blocks;
pub mod events;
pub mod overlap;
pub mod pitched_copy;
pub mod protocol;
