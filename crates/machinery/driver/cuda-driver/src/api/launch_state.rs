//! Launches as of CUDA 3: the block shape, the dynamic shared memory and the parameters are stored in the function,
//! one call each, and apply to all its later launches.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use cuda_sim::driver::CudaError;
use cuda_sim::exec::LaunchSpec;

use super::SIMULATOR;
use super::function::lock_function;
use super::launch::submit;
use crate::arguments::{In, number};
use crate::simulator::{LaunchState, Stream, lock};
use crate::status::CallResult;
use crate::types::{CUfunction, CUstream};

/// Bytes of the largest parameter block that these functions accept.
const MAX_PARAMETER_BYTES: usize = 4096;

/// `cuFuncSetBlockShape`.
pub fn set_block_shape(function: CUfunction, x: c_int, y: c_int, z: c_int) -> CallResult {
    let block = [x, y, z].map(|size| c_uint::try_from(size).unwrap_or(0));
    let (driver, id) = lock_function(function)?;
    driver.check_block(id, block)?;
    drop(driver);
    update(function, |state| {
        state.block = block;
        Ok(())
    })
}

/// `cuFuncSetSharedSize`.
pub fn set_shared_size(function: CUfunction, bytes: c_uint) -> CallResult {
    update(function, |state| {
        state.dynamic_shared = bytes;
        Ok(())
    })
}

/// `cuParamSetSize`.
pub fn set_parameter_size(function: CUfunction, bytes: c_uint) -> CallResult {
    update(function, |state| {
        let bytes = bytes as usize;
        if bytes > MAX_PARAMETER_BYTES {
            return Err(CudaError::InvalidValue);
        }
        state.parameter_bytes = bytes;
        Ok(())
    })
}

/// `cuParamSeti`.
pub fn set_integer(function: CUfunction, offset: c_int, value: c_uint) -> CallResult {
    set_parameter(function, offset, &value.to_ne_bytes())
}

/// `cuParamSetf`.
pub fn set_float(function: CUfunction, offset: c_int, value: f32) -> CallResult {
    set_parameter(function, offset, &value.to_ne_bytes())
}

/// `cuParamSetv`.
pub fn set_bytes(
    function: CUfunction,
    offset: c_int,
    value: In<c_void>,
    bytes: c_uint,
) -> CallResult {
    let bytes = bytes as usize;
    if bytes > MAX_PARAMETER_BYTES {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the value has the size that the C function's caller states.
    let value = unsafe { std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), bytes) };
    set_parameter(function, offset, value)
}

/// Copies a parameter to this offset of the parameter block.
fn set_parameter(function: CUfunction, offset: c_int, value: &[u8]) -> CallResult {
    update(function, |state| {
        let offset = usize::try_from(offset).map_err(|_| CudaError::InvalidValue)?;
        let end = offset + value.len();
        if end > MAX_PARAMETER_BYTES {
            return Err(CudaError::InvalidValue);
        }
        if state.parameters.len() < end {
            state.parameters.resize(end, 0);
        }
        state.parameters[offset..end].copy_from_slice(value);
        Ok(())
    })
}

/// Changes the stored launch of a function.
fn update(
    function: CUfunction,
    change: impl FnOnce(&mut LaunchState) -> Result<(), CudaError>,
) -> CallResult {
    let (driver, function) = lock_function(function)?;
    driver.function_module(function)?;
    let mut states = lock(&SIMULATOR.tables.launch_states);
    Ok(change(states.entry(function).or_default())?)
}

/// `cuLaunch`: launches one block.
pub fn launch(function: CUfunction) -> CallResult {
    launch_grid(function, 1, 1)
}

/// `cuLaunchGrid`.
pub fn launch_grid(function: CUfunction, width: c_int, height: c_int) -> CallResult {
    launch_grid_in(function, width, height, Stream::default_of_call())
}

/// `cuLaunchGridAsync`.
pub fn launch_grid_async(
    function: CUfunction,
    width: c_int,
    height: c_int,
    stream: CUstream,
) -> CallResult {
    launch_grid_in(function, width, height, stream.into())
}

fn launch_grid_in(function: CUfunction, width: c_int, height: c_int, stream: Stream) -> CallResult {
    let (mut driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    let function = driver.resolve_function(number(function), Some(context))?;
    let kernel_bytes = driver.parameters(function)?.1 as usize;
    let state = lock(&SIMULATOR.tables.launch_states)
        .get(&function)
        .cloned()
        .unwrap_or_default();
    if state.parameter_bytes < kernel_bytes {
        return Err(CudaError::InvalidValue.into());
    }
    let mut parameters = state.parameters;
    parameters.resize(kernel_bytes, 0);
    let [width, height] = [width, height].map(|size| c_uint::try_from(size).unwrap_or(0));
    let spec = LaunchSpec {
        grid: [width, height, 1],
        block: state.block,
        dynamic_shared: state.dynamic_shared,
        parameters: Arc::from(parameters),
        cooperative: false,
        cluster: None,
    };
    submit(driver, context, stream, function, spec)
}
