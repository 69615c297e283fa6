//! Kernel launches: reading of parameters in the two forms that C passes them, execution, and device `printf`
//! output.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use cuda_sim::driver::{CudaError, Driver, FunctionId};
use cuda_sim::exec::LaunchSpec;
use cust_raw::{CUfunction, CUstream};

use super::SIMULATOR;
use crate::arguments::number;
use crate::simulator::operation::{Kernel, StreamOp};
use crate::status::CallResult;

/// Tags in a launch's `extra` list (`CU_LAUNCH_PARAM_…`).
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// `cuLaunchKernel`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn kernel(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    h_stream: CUstream,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CallResult {
    let spec = LaunchSpec {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        parameters: Arc::default(),
        cooperative: false,
    };
    // SAFETY: `parameters` and `extra` are null or hold the kernel's parameters, as `cuLaunchKernel` requires.
    unsafe { launch(function, h_stream, spec, parameters, extra) }
}

/// `cuLaunchCooperativeKernel`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn cooperative_kernel(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    h_stream: CUstream,
    parameters: *mut *mut c_void,
) -> CallResult {
    let spec = LaunchSpec {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        parameters: Arc::default(),
        cooperative: true,
    };
    // SAFETY: `parameters` is null or holds the kernel's parameters, as `cuLaunchCooperativeKernel` requires.
    unsafe { launch(function, h_stream, spec, parameters, std::ptr::null_mut()) }
}

/// Checks a launch and submits it to its stream. `spec` does not have the parameters yet.
///
/// # Safety
/// `parameters` or `extra` must hold the kernel's parameters, unless the kernel has none.
pub unsafe fn launch(
    function: CUfunction,
    h_stream: CUstream,
    mut spec: LaunchSpec,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CallResult {
    let (mut driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    let function = driver.resolve_function(number(function), Some(context))?;
    // SAFETY: `parameters` and `extra` meet this function's contract, which is the same.
    spec.parameters = unsafe { pack(&driver, function, parameters, extra) }?;
    let kernel = Kernel {
        launch: driver.check_launch(context, function, spec)?,
        priority: 0,
    };
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Kernel(kernel))?)
}

/// Packs a kernel's arguments in the layout of its parameter space, from either form in which C passes them.
///
/// # Safety
/// Same as [`launch`].
pub unsafe fn pack(
    driver: &Driver,
    function: FunctionId,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Arc<[u8]>, CudaError> {
    let (layout, bytes) = driver.parameters(function)?;
    let mut packed = vec![0; bytes as usize];
    match (parameters.is_null(), extra.is_null()) {
        (true, true) if layout.is_empty() => {}
        (false, true) => {
            for (i, parameter) in layout.iter().enumerate() {
                let dst = &mut packed[parameter.offset as usize..][..parameter.size as usize];
                // SAFETY: `parameters` has one pointer per kernel parameter, and `i` counts these parameters.
                let src = unsafe { *parameters.add(i) }.cast::<u8>();
                if src.is_null() {
                    return Err(CudaError::InvalidValue);
                }
                // SAFETY: `src` points to a value of the parameter's size, and `packed` is a separate buffer.
                unsafe { src.copy_to_nonoverlapping(dst.as_mut_ptr(), dst.len()) };
            }
        }
        // SAFETY: `extra` is not null, so it is a tagged list by this function's contract.
        (true, false) => unsafe { unpack(extra, &mut packed) }?,
        (_, _) => return Err(CudaError::InvalidValue),
    }
    Ok(packed.into())
}

/// Fills `packed` from a list of tags and values that ends with [`END`].
///
/// # Safety
/// `extra` must be such a list, and its buffer must have the size that the list states.
unsafe fn unpack(extra: *mut *mut c_void, packed: &mut [u8]) -> Result<(), CudaError> {
    let mut buffer = std::ptr::null::<u8>();
    let mut size = None;
    let mut entry = extra;
    loop {
        // SAFETY: `entry` points to a tag: the list continues until its `END` tag.
        let tag = unsafe { *entry }.addr();
        if tag == END {
            break;
        }
        // SAFETY: every tag except `END` is followed by a value.
        let value = unsafe { *entry.add(1) };
        match tag {
            BUFFER => buffer = value.cast(),
            // SAFETY: the value of `BUFFER_SIZE` points to a `size_t`, and it is not null.
            BUFFER_SIZE if !value.is_null() => size = Some(unsafe { *value.cast::<usize>() }),
            _ => return Err(CudaError::InvalidValue),
        }
        // SAFETY: the tag was not `END`, so the list has another tag.
        entry = unsafe { entry.add(2) };
    }
    if buffer.is_null() || size.is_none_or(|size| size < packed.len()) {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: the buffer has `size` bytes, at least `packed.len()`; `packed` is a separate buffer.
    unsafe { buffer.copy_to_nonoverlapping(packed.as_mut_ptr(), packed.len()) };
    Ok(())
}
