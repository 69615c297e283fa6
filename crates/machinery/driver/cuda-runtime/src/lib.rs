//! The CUDA runtime API (`cudaMalloc`, `cudaLaunchKernel`, …, and the `__cuda…` functions that compilers call
//! in programs with kernels), implemented on top of the driver API of `cuda-driver`. A program therefore
//! runs on NVIDIA's driver or on the simulator.
//!
//! The functions have C linkage and are part of the program that links this crate. A host program that loads
//! a library which calls them must export them (`-rdynamic`) and call [`force_link`] once; otherwise the
//! linker drops them.
//!
//! A device's primary context is created by the first call that needs one. A program's kernels are loaded
//! into the context when the first of them, or of its variables, is used. Unimplemented functions return
//! `cudaErrorNotSupported` and print their name to stderr. In a child process forked after the parent used
//! the device, every call returns `cudaErrorInitializationError`.

mod arguments;
mod arrays;
mod context;
mod device;
mod errors;
mod event;
mod fork;
mod functions;
mod graphs;
mod kernel_attributes;
mod last_error;
mod launch;
mod launch_timing;
mod memcpy;
mod memcpy_2d;
mod memcpy_3d;
mod memory;
mod occupancy;
mod pools;
mod program;
mod properties;
mod status;
mod stream;
mod symbols;
mod textures;
pub mod types;

pub use errors::ERRORS;
pub use functions::{names, *};
pub use launch_timing::{LaunchObserver, time_launches};
pub use status::Code;

/// Forces the linker to keep the functions of the runtime API and of the driver API in the calling program.
/// Returns their number and has no other effect.
pub fn force_link() -> usize {
    functions::force_link() + cuda_driver::functions::force_link()
}
