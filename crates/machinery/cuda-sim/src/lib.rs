//! A CUDA GPU in software: PTX in, the results, the memory traffic and a modelled time out.

// Lane loops index several rows by the same lane.
#![allow(clippy::needless_range_loop)]

pub mod check;
pub mod device;
pub mod driver;
pub mod exec;
pub mod memory;
pub mod model;
pub mod profile;
pub mod program;
pub mod ptx;
