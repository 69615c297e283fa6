//! The executor, through the crate's public interface: whole kernels against plain Rust.
//!
//! The CUDA C of the compiled ones is in `../../kernels`; what the compiler would not emit is
//! written out here as PTX.

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
