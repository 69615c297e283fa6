//! The profiler of NVIDIA's tools, which a program may switch on and off: none is there.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;

use super::require_current;
use crate::status::Answer;

/// `cuProfilerStart` and `cuProfilerStop`: without a tool that profiles they do nothing, as on a GPU.
pub unsafe fn switch() -> Answer {
    require_current()?;
    Ok(())
}

/// `cuProfilerInitialize`, which no driver of today does.
pub unsafe fn initialise(_config: *const c_char, _output: *const c_char, _format: c_int) -> Answer {
    Err(CudaError::NotSupported.into())
}
