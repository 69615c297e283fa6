//! Libraries: PTX that is loaded for all contexts, and its kernels.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_sim::driver::{CudaError, Driver, KernelId, LibraryId};
use cust_raw::{CUdevice, CUdeviceptr, CUfunction, CUmodule};

use super::device::check_device;
use super::module::{self, Log};
use super::raw::{Out, c_str, handle, intern, number, write_if_not_null};
use super::{lock_driver_drained, require_current, with_contexts};
use crate::status::CallResult;
use crate::types::{CUkernel, CUlibrary};

/// Values of `CUfunc_cache`.
const CACHE_PREFERENCES: std::ops::RangeInclusive<c_int> = 0..=3;

/// `cuLibraryLoadData`. Library options concern host functions and the ownership of the image; they have no
/// effect here.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn load(
    library: *mut CUlibrary,
    image: *const c_void,
    options: *mut c_int,
    values: *mut *mut c_void,
    count: c_uint,
    library_options: *mut c_int,
    _library_values: *mut *mut c_void,
    library_count: c_uint,
) -> CallResult {
    // SAFETY: `library` is null or writable and `image` null or a valid image, as `cuLibraryLoadData` requires.
    let (library, image) = unsafe { (Out::new(library)?, module::image_bytes(image)?) };
    check_options(library_options, library_count)?;
    // SAFETY: `options` and `values` have `count` elements, as `cuLibraryLoadData` requires of its caller.
    let log = unsafe { module::options(count, options, values) }?;
    load_image(library, image, log)
}

/// `cuLibraryLoadFromFile`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn load_file(
    library: *mut CUlibrary,
    path: *const c_char,
    options: *mut c_int,
    values: *mut *mut c_void,
    count: c_uint,
    library_options: *mut c_int,
    _library_values: *mut *mut c_void,
    library_count: c_uint,
) -> CallResult {
    // SAFETY: `library` is null or writable, and `path` is null or a NUL-terminated string, as
    // `cuLibraryLoadFromFile` requires of its caller.
    let (library, path) = unsafe { (Out::new(library)?, c_str(path)?) };
    check_options(library_options, library_count)?;
    // SAFETY: `options` and `values` have `count` elements, as `cuLibraryLoadFromFile` requires of its caller.
    let log = unsafe { module::options(count, options, values) }?;
    let image = module::read_file(path)?;
    load_image(library, &image, log)
}

fn check_options(options: *mut c_int, count: c_uint) -> Result<(), CudaError> {
    if count > 0 && options.is_null() {
        return Err(CudaError::InvalidValue);
    }
    Ok(())
}

fn load_image(library: Out<CUlibrary>, image: &[u8], log: Option<Log>) -> CallResult {
    let current = with_contexts(|contexts| contexts.current());
    let loaded = module::load_source(image, log, |driver, ptx| driver.load_library(current, ptx))?;
    library.set(handle(loaded.0));
    Ok(())
}

/// `cuLibraryUnload`.
pub unsafe fn unload(library: CUlibrary) -> CallResult {
    Ok(lock_driver_drained()?.unload_library(id(library))?)
}

/// `cuLibraryGetKernel`.
pub unsafe fn kernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char) -> CallResult {
    // SAFETY: `kernel` is null or writable, and `name` is null or a NUL-terminated string, as
    // `cuLibraryGetKernel` requires of its caller.
    let (kernel, name) = unsafe { (Out::new(kernel)?, c_str(name)?) };
    kernel.set(handle(
        lock_driver_drained()?.library_kernel(id(library), name)?.0,
    ));
    Ok(())
}

/// `cuLibraryGetKernelCount`.
pub unsafe fn kernel_count(count: *mut c_uint, library: CUlibrary) -> CallResult {
    // SAFETY: `count` is null or writable, as `cuLibraryGetKernelCount` requires of its caller.
    let count = unsafe { Out::new(count) }?;
    count.set(lock_driver_drained()?.library_kernels(id(library))?.len() as c_uint);
    Ok(())
}

/// `cuLibraryEnumerateKernels`: writes at most `capacity` handles.
pub unsafe fn kernels(kernels: *mut CUkernel, capacity: c_uint, library: CUlibrary) -> CallResult {
    if kernels.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let kernel_ids = lock_driver_drained()?.library_kernels(id(library))?;
    for (i, kernel) in kernel_ids.into_iter().take(capacity as usize).enumerate() {
        // SAFETY: `kernels` has room for `capacity` handles, as `cuLibraryEnumerateKernels` requires, and `i`
        // is less.
        unsafe { kernels.add(i).write(handle(kernel.0)) };
    }
    Ok(())
}

/// `cuLibraryGetModule`.
pub unsafe fn module(module: *mut CUmodule, library: CUlibrary) -> CallResult {
    // SAFETY: `module` is null or writable, as `cuLibraryGetModule` requires of its caller.
    let module = unsafe { Out::new(module) }?;
    let context = require_current()?;
    let module_id = lock_driver_drained()?.library_module(id(library), context)?;
    module.set(handle(module_id.0));
    Ok(())
}

/// `cuLibraryGetGlobal`: a variable's address in the current context.
pub unsafe fn global(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CallResult {
    // SAFETY: `name` is null or a NUL-terminated string, as `cuLibraryGetGlobal` requires of its caller.
    let name = unsafe { c_str(name) }?;
    let context = require_current()?;
    let mut driver = lock_driver_drained()?;
    let module = driver.library_module(id(library), context)?;
    let (base, size) = driver.variable(context, module, name)?;
    // SAFETY: `address` and `bytes` are null or writable, as `cuLibraryGetGlobal` requires of its caller.
    unsafe {
        write_if_not_null(address, base);
        write_if_not_null(bytes, size as usize);
    }
    Ok(())
}

/// `cuLibraryGetManaged`: always fails, because managed variables are not supported.
pub unsafe fn managed(
    _address: *mut CUdeviceptr,
    _bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CallResult {
    // SAFETY: `name` is null or a NUL-terminated string, as `cuLibraryGetManaged` requires of its caller.
    unsafe { c_str(name) }?;
    lock_driver_drained()?.library_kernels(id(library))?;
    Err(CudaError::NotFound.into())
}

/// `cuKernelGetFunction`.
pub unsafe fn kernel_function(function: *mut CUfunction, kernel: CUkernel) -> CallResult {
    // SAFETY: `function` is null or writable, as `cuKernelGetFunction` requires of its caller.
    let function = unsafe { Out::new(function) }?;
    let context = require_current()?;
    let function_id = lock_driver_drained()?.kernel_function(KernelId(number(kernel)), context)?;
    function.set(handle(function_id.0));
    Ok(())
}

/// `cuKernelGetLibrary`.
pub unsafe fn kernel_library(library: *mut CUlibrary, kernel: CUkernel) -> CallResult {
    // SAFETY: `library` is null or writable, as `cuKernelGetLibrary` requires of its caller.
    let library = unsafe { Out::new(library) }?;
    library.set(handle(
        lock_driver_drained()?
            .kernel_library(KernelId(number(kernel)))?
            .0,
    ));
    Ok(())
}

/// `cuKernelGetName`.
pub unsafe fn kernel_name(name: *mut *const c_char, kernel: CUkernel) -> CallResult {
    // SAFETY: `name` is null or writable, as `cuKernelGetName` requires of its caller.
    let name = unsafe { Out::new(name) }?;
    name.set(intern(
        lock_driver_drained()?.kernel_name(KernelId(number(kernel)))?,
    ));
    Ok(())
}

/// `cuKernelGetParamInfo`.
pub unsafe fn kernel_parameter(
    kernel: CUkernel,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> CallResult {
    // SAFETY: `offset` is null or writable, as `cuKernelGetParamInfo` requires of its caller.
    let offset = unsafe { Out::new(offset) }?;
    let driver = lock_driver_drained()?;
    let parameters = driver.kernel_parameters(KernelId(number(kernel)))?;
    let parameter = parameters.get(index).ok_or(CudaError::InvalidValue)?;
    offset.set(parameter.offset as usize);
    // SAFETY: `size` is null or writable, as `cuKernelGetParamInfo` requires of its caller.
    unsafe { write_if_not_null(size, parameter.size as usize) };
    Ok(())
}

/// `cuKernelGetAttribute`.
pub unsafe fn kernel_attribute(
    value: *mut c_int,
    attribute: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> CallResult {
    // SAFETY: `value` is null or writable, as `cuKernelGetAttribute` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let driver = lock_kernel_drained(kernel, device)?;
    value.set(driver.kernel_attribute(KernelId(number(kernel)), attribute)?);
    Ok(())
}

/// `cuKernelSetAttribute`.
pub unsafe fn set_kernel_attribute(
    attribute: c_int,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> CallResult {
    let mut driver = lock_kernel_drained(kernel, device)?;
    Ok(driver.set_kernel_attribute(KernelId(number(kernel)), attribute, value)?)
}

/// `cuKernelSetCacheConfig`: validated, but without effect.
pub unsafe fn set_cache_config(kernel: CUkernel, config: c_int, device: CUdevice) -> CallResult {
    let _guard = lock_kernel_drained(kernel, device)?;
    if !CACHE_PREFERENCES.contains(&config) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}

/// Locks the driver, after a check that the kernel and the device exist.
fn lock_kernel_drained(
    kernel: CUkernel,
    device: CUdevice,
) -> Result<std::sync::MutexGuard<'static, Driver>, CudaError> {
    check_device(device)?;
    let driver = lock_driver_drained()?;
    driver.kernel_library(KernelId(number(kernel)))?;
    Ok(driver)
}

fn id(library: CUlibrary) -> LibraryId {
    LibraryId(number(library))
}
