//! The CUDA runtime API's functions (`cudaMalloc` and its sisters, and those that a compiler calls for
//! a program with kernels), over the driver API's functions that `cuda-driver` defines: so a program
//! runs on NVIDIA's driver or on the simulator.
//!
//! They are C functions in the program that links this crate. Who loads a library that calls them has
//! to export them (`-rdynamic`) and to call [`keep`] once, without which a linker leaves them out.
//!
//! A device's primary context is made at the first call that takes one, and a program's kernels are
//! loaded into it when the first of them, or of its variables, is used. What is missing answers
//! `cudaErrorNotSupported` and says its name on stderr. In a child after `fork` of a process that has
//! used the device every call answers `cudaErrorInitializationError`.

mod arguments;
mod arrays;
mod copies;
mod device;
mod errors;
mod event;
mod fork;
mod functions;
mod graphs;
mod kernel;
mod last_error;
mod launch;
mod memory;
mod occupancy;
mod pools;
mod program;
mod properties;
mod rows;
mod start;
mod status;
mod stream;
mod symbols;
mod textures;
mod timing;
pub mod types;
mod volume;

pub use errors::ERRORS;
pub use functions::{names, *};
pub use status::Code;
pub use timing::{Hear, time_launches};

/// Keeps the functions of the runtime API and of the driver API in the program that calls this; returns
/// how many there are. It does nothing else.
pub fn keep() -> usize {
    functions::kept() + cuda_driver::functions::kept()
}
