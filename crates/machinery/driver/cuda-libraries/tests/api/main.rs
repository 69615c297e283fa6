//! The libraries' C functions, called as a C program would, on the simulator, and compared with plain loops.

mod blas;
mod device;
mod fft;
mod headers;
mod light;
mod order;
