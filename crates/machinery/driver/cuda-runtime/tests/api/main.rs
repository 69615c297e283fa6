//! The C functions of the runtime API, called as a C program would, on the simulator.

mod arrays;
mod devices;
mod errors;
mod kernels;
mod launch_timing;
mod memcpy;
mod memory;
mod pools;
mod program;
mod streams;
mod textures;
