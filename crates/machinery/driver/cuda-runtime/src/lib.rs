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

#[macro_use]
mod functions;
mod arrays;
mod context;
mod device;
mod errors;
mod graphs;
mod launch;
mod memcpy;
mod memory;
mod program;
mod properties;
mod registration;
mod stream;
mod symbols;
pub mod types;

use functions::Entry;

pub use arrays::*;
pub use device::*;
pub use errors::{Code, ERRORS, cudaGetErrorName, cudaGetErrorString};
pub use functions::{cudaGetLastError, cudaPeekAtLastError};
pub use graphs::*;
pub use launch::*;
pub use memcpy::*;
pub use memory::*;
pub use properties::*;
pub use registration::*;
pub use stream::*;
pub use symbols::*;

/// The exported functions, by module.
static TABLES: [&[Entry]; 11] = [
    arrays::FUNCTIONS,
    device::FUNCTIONS,
    graphs::FUNCTIONS,
    launch::FUNCTIONS,
    memcpy::FUNCTIONS,
    memory::FUNCTIONS,
    properties::FUNCTIONS,
    stream::FUNCTIONS,
    symbols::FUNCTIONS,
    &SPECIAL,
    &registration::FUNCTIONS,
];

/// Functions that do not return an error, or that access the last error.
static SPECIAL: [Entry; 5] = entries![
    cudaCreateChannelDesc,
    cudaGetErrorName,
    cudaGetErrorString,
    cudaGetLastError,
    cudaPeekAtLastError,
];

/// Forces the linker to keep the functions of the runtime API and of the driver API in the calling program.
/// Returns their number and has no other effect.
pub fn force_link() -> usize {
    // Reading the entries keeps all functions in the linked program.
    let entries = TABLES.iter().copied().flatten();
    let linked = entries.filter(|entry| std::hint::black_box(entry).is_linked());
    linked.count() + cuda_driver::functions::force_link()
}

/// Returns the names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().copied().flatten().map(Entry::name)
}
