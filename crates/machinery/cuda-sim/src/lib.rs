//! A CUDA GPU in software: PTX in, the results, the memory traffic and a modelled time out.

pub mod device;
pub mod driver;
pub mod exec;
pub mod memory;
pub mod model;
pub mod profile;
pub mod program;
pub mod ptx;
