//! Kernel launches: the two ways C passes parameters, and what a kernel prints.

use std::ffi::{c_uint, c_void};
use std::io::Write;
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, LaunchOutcome, StreamId};
use cuda_sim::exec::Fault;
use cust_raw::{CUfunction, CUstream};

use super::check::report;
use super::interrupt::Interruptible;
use super::submit::submit;
use super::work::{Kernel, Work};
use super::{function, in_live_stream, machine, watch};
use crate::names;
use crate::report::say;
use crate::status::Answer;

/// The tags in a launch's `extra` list (`CU_LAUNCH_PARAM_…`).
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
    on: CUstream,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    let asked = Asked {
        function,
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        on,
        cooperative: false,
    };
    // SAFETY: the caller's promise.
    unsafe { launch(asked, parameters, extra) }
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
    on: CUstream,
    parameters: *mut *mut c_void,
) -> Answer {
    let asked = Asked {
        function,
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_shared,
        on,
        cooperative: true,
    };
    // SAFETY: the caller's promise.
    unsafe { launch(asked, parameters, std::ptr::null_mut()) }
}

/// A launch, but for its parameters.
pub struct Asked {
    pub function: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared: c_uint,
    pub on: CUstream,
    pub cooperative: bool,
}

/// # Safety
/// One of `parameters` and `extra` has to hold the kernel's parameters, or the kernel to have none.
pub unsafe fn launch(
    asked: Asked,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    let (mut driver, context, stream) = in_live_stream(asked.on)?;
    let function = function(&mut driver, Some(context), asked.function)?;
    let kernel = Kernel {
        function,
        grid: asked.grid,
        block: asked.block,
        dynamic_shared: asked.dynamic_shared,
        // SAFETY: the caller's promise.
        arguments: unsafe { pack(&driver, function, parameters, extra) }?,
        cooperative: asked.cooperative,
        priority: 0,
    };
    driver.check_launch(context, &kernel.config())?;
    Ok(submit(driver, context, stream, Work::Kernel(kernel))?)
}

/// A kernel's arguments as they lie in its parameter space, from either form in which C passes them.
///
/// # Safety
/// As [`launch`].
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
            for (i, part) in layout.iter().enumerate() {
                let to = &mut packed[part.offset as usize..][..part.size as usize];
                // SAFETY: the caller promises a pointer for each of the kernel's parameters.
                let from = unsafe { *parameters.add(i) }.cast::<u8>();
                if from.is_null() {
                    return Err(CudaError::InvalidValue);
                }
                // SAFETY: each points to a value of its parameter's size.
                unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
            }
        }
        // SAFETY: the caller's promise about `extra`.
        (true, false) => unsafe { unpack(extra, &mut packed) }?,
        (_, _) => return Err(CudaError::InvalidValue),
    }
    Ok(packed.into())
}

/// Runs a kernel to its end, and says what it printed and what was found in it.
pub fn run(context: ContextId, stream: StreamId, kernel: &Kernel) -> Result<(), CudaError> {
    let mut driver = machine()?;
    let interruptible = Interruptible::begin();
    let mut launched = driver.launch(context, stream, &kernel.config())?;
    drop(interruptible);
    name_kernels(&mut launched);
    if let Some(record) = &launched.record {
        watch::traced(&record.kernel, std::mem::take(&mut launched.trace));
    }
    watch::finished(launched.record, launched.fault.as_ref());
    drop(driver);
    let said = launched.fault.as_ref().and_then(Fault::finding);
    if !launched.printed.is_empty() {
        flush_c();
        let mut stdout = std::io::stdout().lock();
        // If nobody reads the output, the launch has not failed, as with C's printf.
        let _ = stdout
            .write_all(&launched.printed)
            .and_then(|()| stdout.flush());
    }
    if let Some(fault) = launched.fault {
        say(format_args!("{fault}"));
    }
    report(launched.findings, said.as_ref());
    Ok(())
}

/// Has what is told of a launch call its kernel as the reader's source does.
fn name_kernels(launched: &mut LaunchOutcome) {
    let place = launched.fault.as_mut().and_then(|it| it.place.as_mut());
    let names = place.map(|place| &mut place.kernel);
    let found = launched.findings.iter_mut().map(|it| &mut it.kernel);
    for name in names.into_iter().chain(found) {
        *name = names::plain(name);
    }
}

/// Sends on what the program has printed with C's functions, which keep it: it was printed before.
fn flush_c() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> std::ffi::c_int;
    }
    // SAFETY: `fflush` is in C's library on every platform; a null pointer means all streams.
    unsafe { fflush(std::ptr::null_mut()) };
}

/// Fills `packed` from a list of tags and values ended by [`END`].
///
/// # Safety
/// `extra` must be such a list; its buffer must be as long as it says.
unsafe fn unpack(extra: *mut *mut c_void, packed: &mut [u8]) -> Result<(), CudaError> {
    let mut buffer = std::ptr::null::<u8>();
    let mut size = None;
    let mut at = extra;
    loop {
        // SAFETY: the list has not ended.
        let tag = unsafe { *at }.addr();
        if tag == END {
            break;
        }
        // SAFETY: a value follows every tag but the last.
        let value = unsafe { *at.add(1) };
        match tag {
            BUFFER => buffer = value.cast(),
            // SAFETY: this tag's value points to a size.
            BUFFER_SIZE if !value.is_null() => size = Some(unsafe { *value.cast::<usize>() }),
            _ => return Err(CudaError::InvalidValue),
        }
        // SAFETY: the list goes on.
        at = unsafe { at.add(2) };
    }
    if buffer.is_null() || size.is_none_or(|size| size < packed.len()) {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: the buffer holds `size` bytes, which are at least as many.
    unsafe { buffer.copy_to_nonoverlapping(packed.as_mut_ptr(), packed.len()) };
    Ok(())
}
