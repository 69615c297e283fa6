//! Profiler control, which NVIDIA's tools use: the simulator has no external profiler.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;

use super::require_current;
use crate::status::CallResult;

/// `cuProfilerStart` and `cuProfilerStop`: no-ops without an attached tool, as on a GPU.
pub fn switch() -> CallResult {
    require_current()?;
    Ok(())
}

/// `cuProfilerInitialize`, which current drivers do not support either.
pub fn initialise(_config: *const c_char, _output: *const c_char, _format: c_int) -> CallResult {
    Err(CudaError::NotSupported.into())
}
