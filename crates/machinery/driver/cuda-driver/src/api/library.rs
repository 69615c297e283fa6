//! Libraries: PTX that is loaded for all contexts, and its kernels.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_sim::driver::{CudaError, Driver, KernelId, LibraryId};
use cuda_sim::memory::global::AllocationKind;

use super::SIMULATOR;
use super::device::check_device;
use super::module::{self, Image};
use crate::arguments::{In, Out, handle, required};
use crate::simulator::{Log, require_current, with_contexts};
use crate::status::{CallResult, Status};
use crate::types::{CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule};

/// Values of `CUlibraryOption`.
const OPTIONS: std::ops::RangeInclusive<c_int> = 0..=1;

/// Values of `CUfunc_cache`.
const CACHE_PREFERENCES: std::ops::RangeInclusive<c_int> = 0..=3;

/// `cuLibraryLoadData`. Library options concern host functions and the ownership of the image; they have no
/// effect here.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn load(
    library: Out<CUlibrary>,
    image: Image<'_>,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
    count: c_uint,
    library_options: Option<In<c_int>>,
    _library_values: *mut *mut c_void,
    library_count: c_uint,
) -> CallResult {
    check_options(library_options, library_count)?;
    // SAFETY: `options` and `values` have `count` elements, as `cuLibraryLoadData` requires of its caller.
    let log = unsafe { module::options(count, options, values) }?;
    load_image(library, image.0, log)
}

/// `cuLibraryLoadFromFile`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn load_file(
    library: Out<CUlibrary>,
    path: &str,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
    count: c_uint,
    library_options: Option<In<c_int>>,
    _library_values: *mut *mut c_void,
    library_count: c_uint,
) -> CallResult {
    check_options(library_options, library_count)?;
    // SAFETY: `options` and `values` have `count` elements, as `cuLibraryLoadFromFile` requires of its caller.
    let log = unsafe { module::options(count, options, values) }?;
    let image = module::read_file(path)?;
    load_image(library, &image, log)
}

fn check_options(options: Option<In<c_int>>, count: c_uint) -> Result<(), CudaError> {
    if count == 0 {
        return Ok(());
    }
    // SAFETY: the C function requires that `options` has `count` elements.
    let options = unsafe { required(options)?.read_all(count as usize) };
    let is_known = options.iter().all(|option| OPTIONS.contains(option));
    is_known.then_some(()).ok_or(CudaError::InvalidValue)
}

/// The errors of PTX that the driver finds only when a library is used, because it loads lazily. The message is printed
/// when the library is loaded.
const LAZY_ERRORS: [CudaError; 2] = [CudaError::InvalidImage, CudaError::InvalidPtx];

fn load_image(library: Out<CUlibrary>, image: &[u8], log: Option<Log>) -> CallResult {
    let current = with_contexts(|contexts| contexts.current());
    let loaded = module::load_source(image, log, |driver, ptx| driver.load_library(current, ptx));
    let loaded = match loaded {
        Err(status) => match LAZY_ERRORS
            .into_iter()
            .find(|error| status == Status::from(*error))
        {
            Some(error) => SIMULATOR.lock_driver()?.add_failed_library(error),
            None => return Err(status),
        },
        Ok(loaded) => loaded,
    };
    library.set(handle(loaded.0));
    Ok(())
}

/// `cuLibraryUnload`.
pub fn unload(library: LibraryId) -> CallResult {
    Ok(SIMULATOR.lock_driver_drained()?.unload_library(library)?)
}

/// `cuLibraryGetKernel`.
pub fn kernel(kernel: Out<CUkernel>, library: LibraryId, name: &str) -> CallResult {
    kernel.set(handle(
        SIMULATOR
            .lock_driver_settled()?
            .library_kernel(library, name)?
            .0,
    ));
    Ok(())
}

/// `cuLibraryGetKernelCount`.
pub fn kernel_count(count: Out<c_uint>, library: LibraryId) -> CallResult {
    count.set(
        SIMULATOR
            .lock_driver_settled()?
            .library_kernels(library)?
            .len() as c_uint,
    );
    Ok(())
}

/// `cuLibraryEnumerateKernels`: writes at most `capacity` handles.
pub fn kernels(kernels: Out<CUkernel>, capacity: c_uint, library: LibraryId) -> CallResult {
    let kernel_ids = SIMULATOR.lock_driver_settled()?.library_kernels(library)?;
    let handles = kernel_ids.into_iter().map(|kernel| handle(kernel.0));
    // SAFETY: `kernels` has room for `capacity` handles, as `cuLibraryEnumerateKernels` requires.
    unsafe { kernels.set_all(handles.take(capacity as usize)) };
    Ok(())
}

/// `cuLibraryGetModule`.
pub fn module(module: Out<CUmodule>, library: LibraryId) -> CallResult {
    let context = require_current()?;
    let module_id = SIMULATOR
        .lock_driver_settled()?
        .library_module(library, context)?;
    module.set(handle(module_id.0));
    Ok(())
}

/// `cuLibraryGetGlobal`: a variable's address in the current context.
pub fn global(
    address: Option<Out<CUdeviceptr>>,
    bytes: Option<Out<usize>>,
    library: LibraryId,
    name: &str,
) -> CallResult {
    let context = require_current()?;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let module = driver.library_module(library, context)?;
    let (base, size) = driver.variable(context, module, name)?;
    Out::set_optional(address, base);
    Out::set_optional(bytes, size as usize);
    Ok(())
}

/// `cuLibraryGetManaged`: a variable's address, if it is in managed memory.
pub fn managed(
    address: Option<Out<CUdeviceptr>>,
    bytes: Option<Out<usize>>,
    library: LibraryId,
    name: &str,
) -> CallResult {
    let context = require_current()?;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let module = driver.library_module(library, context)?;
    let (base, size) = driver.variable(context, module, name)?;
    if driver.allocation(base)?.kind != AllocationKind::Managed {
        return Err(CudaError::NotFound.into());
    }
    Out::set_optional(address, base);
    Out::set_optional(bytes, size as usize);
    Ok(())
}

/// `cuLibraryGetUnifiedFunction`: the simulator's devices have no unified functions.
pub fn unified_function(
    _function: Out<*mut c_void>,
    library: LibraryId,
    _name: &str,
) -> CallResult {
    SIMULATOR.lock_driver_settled()?.library_kernels(library)?;
    Err(CudaError::InvalidValue.into())
}

/// `cuKernelGetFunction`.
pub fn kernel_function(function: Out<CUfunction>, kernel: KernelId) -> CallResult {
    let context = require_current()?;
    let function_id = SIMULATOR
        .lock_driver_settled()?
        .kernel_function(kernel, context)?;
    function.set(handle(function_id.0));
    Ok(())
}

/// `cuKernelGetLibrary`.
pub fn kernel_library(library: Out<CUlibrary>, kernel: KernelId) -> CallResult {
    library.set(handle(
        SIMULATOR.lock_driver_settled()?.kernel_library(kernel)?.0,
    ));
    Ok(())
}

/// `cuKernelGetName`.
pub fn kernel_name(name: Out<*const c_char>, kernel: KernelId) -> CallResult {
    if kernel == KernelId(0) {
        return Err(CudaError::InvalidValue.into());
    }
    name.set(
        SIMULATOR
            .tables
            .intern(SIMULATOR.lock_driver_settled()?.kernel_name(kernel)?),
    );
    Ok(())
}

/// `cuKernelGetParamInfo`.
pub fn kernel_parameter(
    kernel: KernelId,
    index: usize,
    offset: Out<usize>,
    size: Option<Out<usize>>,
) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    let parameters = driver.kernel_parameters(kernel)?;
    let parameter = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(parameter.offset as usize);
    Out::set_optional(size, parameter.size as usize);
    Ok(())
}

/// `cuKernelGetAttribute`.
pub fn kernel_attribute(
    value: Out<c_int>,
    attribute: c_int,
    kernel: KernelId,
    device: CUdevice,
) -> CallResult {
    let driver = lock_kernel(kernel, device)?;
    value.set(driver.kernel_attribute(kernel, attribute)?);
    Ok(())
}

/// `cuKernelSetAttribute`.
pub fn set_kernel_attribute(
    attribute: c_int,
    value: c_int,
    kernel: KernelId,
    device: CUdevice,
) -> CallResult {
    let mut driver = lock_kernel(kernel, device)?;
    Ok(driver.set_kernel_attribute(kernel, attribute, value)?)
}

/// `cuKernelSetCacheConfig`: validated, but without effect.
pub fn set_cache_config(kernel: KernelId, config: c_int, device: CUdevice) -> CallResult {
    let _guard = lock_kernel(kernel, device)?;
    if !CACHE_PREFERENCES.contains(&config) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}

/// Locks the driver, after a check that the kernel and the device exist.
fn lock_kernel(
    kernel: KernelId,
    device: CUdevice,
) -> Result<std::sync::MutexGuard<'static, Driver>, CudaError> {
    check_device(device)?;
    let driver = SIMULATOR.lock_driver_settled()?;
    driver.kernel_library(kernel)?;
    Ok(driver)
}
