//! Tests of the interpreter through the crate's public interface: whole kernels, compared with plain Rust.
//!
//! The CUDA C++ source of compiled kernels is in `../../kernels`. Forms that the compiler does not emit are
//! written here as PTX.

mod again;
mod assembled;
mod async_copy;
mod atomics;
mod barriers;
mod calls;
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
mod identity;
mod images;
mod load_errors;
mod mbarrier;
mod memory;
mod model;
mod order;
mod ordered;
mod poison;
mod printing;
mod products;
mod products_of_bytes;
mod progress;
mod random_flow;
mod recorded;
mod spaces;
mod tensor;
mod warp;
mod warpgroup;
mod watch;
mod watched;
mod written;
