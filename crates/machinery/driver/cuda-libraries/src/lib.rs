//! Libraries under NVIDIA's names, for programs that `cuda-run` compiles: cuBLAS, cuFFT and cuRAND.
//!
//! On a GPU, their functions forward to NVIDIA's library if it is installed. On the simulator, they compute on device
//! memory in stream order, with crates for the host; their instructions are not simulated, and their times are estimates.
//!
//! `functions.rs` has the macro that defines the exported functions, `nvidia.rs` loads NVIDIA's libraries, `call.rs`
//! submits work to the simulator. Each other folder is one library.

#![allow(
    non_snake_case,
    reason = "each exported function is in a module of its name"
)]
#![allow(clippy::too_many_arguments, reason = "the signatures are C's")]

#[macro_use]
mod functions;
mod call;
pub mod cublas;
pub mod cufft;
pub mod curand;
mod nvidia;

use functions::Entry;

/// The exported functions, by library.
static TABLES: [&[Entry]; 4] = [
    cublas::FUNCTIONS,
    cublas::lt::FUNCTIONS,
    cufft::FUNCTIONS,
    curand::FUNCTIONS,
];

/// Forces the linker to keep the functions of all libraries in the calling program. Returns their number and has no other
/// effect.
pub fn force_link() -> usize {
    let entries = TABLES.iter().copied().flatten();
    let linked = entries.filter(|entry| std::hint::black_box(entry).is_linked());
    linked.count()
}

/// Returns the names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().copied().flatten().map(|entry| entry.name)
}
