//! The runtime API's functions as C calls them, on the simulator.

mod arrays;
mod copies;
mod devices;
mod errors;
mod images;
mod kernels;
mod memory;
mod pools;
mod program;
mod streams;
mod timing;
