//! Kernels: attributes and preferences, occupancy, and the control of a profiler.
//!
//! The last functions are the launches of CUDA 3: the block shape, the dynamic shared memory and the parameters are stored in
//! the function, one call each, and apply to all its later launches.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use cuda_sim::driver::{CudaError, FunctionId, OccupancyCalculator};
use cuda_sim::exec::LaunchSpec;

use super::SIMULATOR;
use super::launch::{read_attributes, submit};
use crate::arguments::{In, Out, handle, number};
use crate::simulator::{
    LaunchState, Locked, Stream, WaitTarget, lock, require_current, with_contexts,
};
use crate::status::{CallResult, Status};
use crate::types::{CUfunction, CUlaunchConfig, CUmodule, CUoccupancyB2DSize, CUstream};

/// Locks the driver and resolves a function handle; a library's kernel resolves to its function in the
/// current context.
fn lock_function(handle: CUfunction) -> Locked<'static, FunctionId> {
    let context = with_contexts(|contexts| contexts.current());
    let mut driver = SIMULATOR.lock_driver()?;
    let function = driver.resolve_function(number(handle), context)?;
    Ok((driver, function))
}

/// Locks the driver and resolves a function handle. Returns [`CudaError::InvalidValue`] for a null handle.
fn lock_existing(handle: CUfunction) -> Locked<'static, FunctionId> {
    match handle.is_null() {
        true => Err(CudaError::InvalidValue),
        false => lock_function(handle),
    }
}

/// `cuFuncGetAttribute`.
pub fn attribute(value: Out<c_int>, attribute: c_int, function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    value.set(driver.function_attribute(function, attribute)?);
    Ok(())
}

/// `cuFuncSetAttribute`.
pub fn set_attribute(function: CUfunction, attribute: c_int, value: c_int) -> CallResult {
    // Pending launches were validated with the old value.
    SIMULATOR.wait(WaitTarget::All);
    let (mut driver, function) = lock_function(function)?;
    Ok(driver.set_function_attribute(function, attribute, value)?)
}

/// `cuFuncSetCacheConfig`: the preferred split between L1 cache and shared memory. Validated, but without
/// effect.
pub fn set_cache_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 3)
}

/// `cuFuncSetSharedMemConfig`: the shared-memory bank size. Validated, but without effect: since Maxwell,
/// GPUs have only one size.
pub fn set_shared_config(function: CUfunction, config: c_int) -> CallResult {
    check_preference(function, config, 2)
}

/// `cuFuncGetModule`.
pub fn module(module: Out<CUmodule>, function: CUfunction) -> CallResult {
    let (driver, function) = lock_existing(function)?;
    module.set(handle(driver.function_module(function)?.0));
    Ok(())
}

/// `cuFuncGetName`.
pub fn name(name: Out<*const c_char>, function: CUfunction) -> CallResult {
    let (driver, function) = lock_existing(function)?;
    name.set(SIMULATOR.tables.intern(driver.function_name(function)?));
    Ok(())
}

/// `cuFuncGetParamInfo`.
pub fn parameter(
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Option<Out<usize>>,
) -> CallResult {
    let (driver, function) = lock_existing(function)?;
    let parameters = driver.parameters(function)?.0;
    let parameter = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(parameter.offset as usize);
    Out::set_optional(size, parameter.size as usize);
    Ok(())
}

/// Returns the sizes of a kernel's parameters in bytes, for which the driver API has no function.
///
/// # Errors
///
/// Fails if the function does not exist.
pub fn parameter_sizes(function: CUfunction) -> Result<Vec<usize>, Status> {
    let (driver, function) = lock_existing(function)?;
    let parameters = driver.parameters(function)?.0;
    Ok(parameters
        .iter()
        .map(|parameter| parameter.size as usize)
        .collect())
}

/// `cuFuncIsLoaded`: always true, because modules are loaded eagerly.
pub fn is_loaded(state: Out<c_int>, function: CUfunction) -> CallResult {
    /// `CU_FUNCTION_LOADING_STATE_LOADED`.
    const LOADED: c_int = 1;
    load(function)?;
    state.set(LOADED);
    Ok(())
}

/// `cuFuncLoad`: a no-op, because modules are loaded eagerly.
pub fn load(function: CUfunction) -> CallResult {
    let (driver, function) = lock_function(function)?;
    driver.function_module(function)?;
    Ok(())
}

/// Rejects an unknown function, and a preference outside 0 to `last`.
fn check_preference(function: CUfunction, preference: c_int, last: c_int) -> CallResult {
    load(function)?;
    if !(0..=last).contains(&preference) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, the only flag; it has no effect.
const OCCUPANCY_FLAGS: c_uint = 1;

/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
pub fn active_blocks(
    blocks: Out<c_int>,
    function: CUfunction,
    threads: c_int,
    dynamic_shared: usize,
) -> CallResult {
    let blocks_per_sm = calculator(function)?.max_active_blocks(threads, dynamic_shared as u64)?;
    blocks.set(blocks_per_sm as c_int);
    Ok(())
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`.
pub fn active_blocks_with_flags(
    blocks: Out<c_int>,
    function: CUfunction,
    threads: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> CallResult {
    check_flags(flags)?;
    active_blocks(blocks, function, threads, dynamic_shared)
}

/// `cuOccupancyMaxPotentialBlockSize`.
pub fn potential_block_size(
    blocks: Out<c_int>,
    threads: Out<c_int>,
    function: CUfunction,
    dynamic_shared_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
) -> CallResult {
    // The calculator is a copy, so the driver is not locked while the program's function runs.
    let occupancy = calculator(function)?;
    let dynamic = |threads| match dynamic_shared_of {
        // SAFETY: the program passed this function to be called with a block size.
        Some(function) => unsafe { function(threads) as u64 },
        None => dynamic_shared as u64,
    };
    let best = occupancy.max_potential_block_size(dynamic, limit)?;
    blocks.set(best.0 as c_int);
    threads.set(best.1 as c_int);
    Ok(())
}

/// `cuOccupancyMaxPotentialBlockSizeWithFlags`.
pub fn potential_block_size_with_flags(
    blocks: Out<c_int>,
    threads: Out<c_int>,
    function: CUfunction,
    dynamic_shared_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
    flags: c_uint,
) -> CallResult {
    check_flags(flags)?;
    potential_block_size(
        blocks,
        threads,
        function,
        dynamic_shared_of,
        dynamic_shared,
        limit,
    )
}

/// `cuOccupancyAvailableDynamicSMemPerBlock`.
pub fn available_dynamic_shared(
    bytes: Out<usize>,
    function: CUfunction,
    blocks: c_int,
    threads: c_int,
) -> CallResult {
    bytes.set(calculator(function)?.available_dynamic_shared(blocks, threads)? as usize);
    Ok(())
}

/// `cuOccupancyMaxActiveClusters`.
pub fn active_clusters(
    clusters: Out<c_int>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> CallResult {
    let (driver, (function, spec)) = configuration(function, config)?;
    clusters.set(driver.max_resident_clusters(function, &spec)? as c_int);
    Ok(())
}

/// `cuOccupancyMaxPotentialClusterSize`.
pub fn cluster_size(
    size: Out<c_int>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> CallResult {
    let (driver, (function, spec)) = configuration(function, config)?;
    size.set(driver.max_cluster_size(function, &spec)? as c_int);
    Ok(())
}

/// Returns the driver, a function, and the launch that a configuration describes, without parameters.
fn configuration(
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Locked<'static, (FunctionId, LaunchSpec)> {
    let config = config.read();
    // SAFETY: `attributes` has `attribute_count` elements, as both functions require of their callers.
    let attributes = unsafe { read_attributes(config.attributes, config.attribute_count) }?;
    let (driver, function) = lock_existing(function)?;
    let mut spec = LaunchSpec::new(config.grid, config.block, &[]);
    spec.dynamic_shared = config.dynamic_shared;
    spec.cluster = attributes.cluster;
    Ok((driver, (function, spec)))
}

/// Returns a function's occupancy calculator, which does not keep the driver locked.
fn calculator(function: CUfunction) -> Result<OccupancyCalculator, CudaError> {
    let (driver, function) = lock_function(function)?;
    driver.occupancy_calculator(function)
}

fn check_flags(flags: c_uint) -> Result<(), CudaError> {
    if flags & !OCCUPANCY_FLAGS != 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(())
}

/// `cuProfilerStart` and `cuProfilerStop`: no-ops without an attached tool, as on a GPU.
pub fn switch_profiler() -> CallResult {
    require_current()?;
    Ok(())
}

/// `cuProfilerInitialize`, which current drivers do not support either.
pub fn initialize_profiler(
    _config: *const c_char,
    _output: *const c_char,
    _format: c_int,
) -> CallResult {
    Err(CudaError::NotSupported.into())
}

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
pub fn launch_stored(function: CUfunction) -> CallResult {
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
