//! Kernel launches: reading of parameters in the two forms that C passes them, execution, and device `printf`
//! output.

use std::ffi::{c_uint, c_void};
use std::io::Write;
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, LaunchOutcome, StreamId};
use cuda_sim::exec::Fault;
use cust_raw::{CUfunction, CUstream};

use super::check::report;
use super::interrupt::InterruptGuard;
use super::stream_op::{Kernel, StreamOp};
use super::submit::submit;
use super::{lock_driver, lock_live_stream, resolve_function, telemetry};
use crate::log::warn;
use crate::names;
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
    let request = LaunchRequest {
        function,
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        h_stream,
        cooperative: false,
    };
    // SAFETY: `parameters` and `extra` are null or hold the kernel's parameters, as `cuLaunchKernel` requires.
    unsafe { launch(request, parameters, extra) }
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
    let request = LaunchRequest {
        function,
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        h_stream,
        cooperative: true,
    };
    // SAFETY: `parameters` is null or holds the kernel's parameters, as `cuLaunchCooperativeKernel` requires.
    unsafe { launch(request, parameters, std::ptr::null_mut()) }
}

/// A launch as requested by the program, without its parameters.
pub struct LaunchRequest {
    pub function: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared: c_uint,
    pub h_stream: CUstream,
    pub cooperative: bool,
}

/// Checks a launch and enqueues it in its stream.
///
/// # Safety
/// `parameters` or `extra` must hold the kernel's parameters, unless the kernel has none.
pub unsafe fn launch(
    request: LaunchRequest,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CallResult {
    let (mut driver, context, stream) = lock_live_stream(request.h_stream)?;
    let function = resolve_function(&mut driver, Some(context), request.function)?;
    let kernel = Kernel {
        function,
        grid: request.grid,
        block: request.block,
        dynamic_shared: request.dynamic_shared,
        // SAFETY: `parameters` and `extra` meet this function's contract, which is the same.
        arguments: unsafe { pack(&driver, function, parameters, extra) }?,
        cooperative: request.cooperative,
        priority: 0,
    };
    driver.check_launch(context, &kernel.config())?;
    Ok(submit(driver, context, stream, StreamOp::Kernel(kernel))?)
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

/// Runs a kernel to completion, then prints its output and its findings.
pub fn run(context: ContextId, stream: StreamId, kernel: &Kernel) -> Result<(), CudaError> {
    let mut driver = lock_driver()?;
    let interrupt_guard = InterruptGuard::enable();
    let mut outcome = driver.launch(context, stream, &kernel.config())?;
    drop(interrupt_guard);
    demangle_kernels(&mut outcome);
    if let Some(record) = &outcome.record {
        telemetry::store_trace(&record.kernel, std::mem::take(&mut outcome.trace));
    }
    telemetry::store_result(outcome.record, outcome.fault.as_ref());
    drop(driver);
    let reported = outcome.fault.as_ref().and_then(Fault::finding);
    if !outcome.printed.is_empty() {
        flush_c();
        let mut stdout = std::io::stdout().lock();
        // Ignore errors: as with C's `printf`, a closed stdout does not fail the launch.
        let _ = stdout
            .write_all(&outcome.printed)
            .and_then(|()| stdout.flush());
    }
    if let Some(fault) = outcome.fault {
        warn(format_args!("{fault}"));
    }
    report(outcome.findings, reported.as_ref());
    Ok(())
}

/// Replaces mangled kernel names with source names.
fn demangle_kernels(outcome: &mut LaunchOutcome) {
    let location = outcome
        .fault
        .as_mut()
        .and_then(|fault| fault.location.as_mut());
    let in_fault = location.map(|location| &mut location.kernel);
    let in_findings = outcome
        .findings
        .iter_mut()
        .map(|finding| &mut finding.kernel);
    for name in in_fault.into_iter().chain(in_findings) {
        *name = names::short(name);
    }
}

/// Flushes C's stdout so that earlier host output precedes the kernel's.
fn flush_c() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> std::ffi::c_int;
    }
    // SAFETY: `fflush` has this signature in every C library; a null pointer means all streams.
    unsafe { fflush(std::ptr::null_mut()) };
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
