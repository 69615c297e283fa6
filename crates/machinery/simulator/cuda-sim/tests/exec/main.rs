//! Tests of the interpreter through the crate's public interface: whole kernels, compared with plain Rust.
//!
//! The CUDA C++ source of compiled kernels is in `../../kernels`. Forms that the compiler does not emit are
//! written here as PTX.

mod assembled;
mod async_copy;
mod atomics;
mod barriers;
mod bulk_copies;
mod calls;
mod clusters;
mod counts;
mod determinism;
mod divergence;
mod elements;
mod faults;
mod flow;
mod gangs;
mod handover;
mod harness;
mod hostile;
mod images;
mod launch_cache;
mod load_errors;
mod mbarrier;
mod memory;
mod mma;
mod mma_8bit;
mod model;
mod ordered;
mod poison;
mod printing;
mod progress;
mod random_flow;
mod random_schedule;
mod recorded;
mod sample;
mod special_registers;
mod state_spaces;
mod syntax;
mod tensor;
mod tensor_copies;
mod video;
mod warp;
mod watch;
mod wgmma;
