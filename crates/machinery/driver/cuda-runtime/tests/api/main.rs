//! The C functions of the runtime API, called as a C program would, on the simulator.

#[macro_use]
mod program;

mod arrays;
mod devices;
mod errors;
mod kernels;
mod launch_timing;
mod memcpy;
mod memory;
mod pools;
mod streams;
mod textures;
