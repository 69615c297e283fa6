//! Utilities for any CUDA program in Rust, independent of the chapters.
//!
//! | module | contents |
//! |---|---|
//! | [`gpu`] | opening the GPU, or the simulator that replaces it |
//! | [`error`] | explanations of CUDA's errors, one `error:` line, the exit code |
//! | [`module`] | loading PTX with the compiler's messages; a module's variables |
//! | [`pitched`] | memory whose rows are padded |
//! | [`timing`] | timing with events: number of launches, median of the samples |
//! | [`verify`] | comparison of a result with its reference |
//!
//! Output of a chapter's results is in `crates/machinery/book/chapter`.

// cust calls functions of the CUDA driver, which this crate defines (NVIDIA's driver or the simulator behind
// them), so it must be linked although no item of it may be named.
extern crate cuda_driver as _;

pub mod error;
pub mod gpu;
pub mod module;
pub mod pitched;
pub mod timing;
pub mod verify;

pub use gpu::Gpu;
pub use pitched::PitchedBuffer;
