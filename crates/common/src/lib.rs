//! What a CUDA program in Rust needs anyway, and nothing of any one chapter.
//!
//! | module | what it gives |
//! |---|---|
//! | [`gpu`] | opening the GPU, or the simulator in its place |
//! | [`error`] | what CUDA's errors mean, one `error:` line and the exit code |
//! | [`module`] | loading PTX, with the compiler's words when it refuses; a module's variables |
//! | [`launch`] | grids that cover an input, within the device's limits |
//! | [`timing`] | events around launches, how many of them, and what the samples say |
//! | [`verify`] | comparing a result with its reference |
//!
//! What a chapter's results look like is elsewhere: in `crates/machinery/chapter`.

// cust calls the CUDA driver's functions; this crate defines them (NVIDIA's driver or the
// simulator behind them), so it has to be linked even where nothing names it.
extern crate cuda_driver as _;

pub mod error;
pub mod gpu;
pub mod launch;
pub mod module;
pub mod timing;
pub mod verify;

pub use gpu::Gpu;
