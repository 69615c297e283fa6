//! Libraries, which are PTX that is loaded for all contexts, and their kernels; and the linker (`cuLink…`), which combines PTX
//! inputs into one, which serves as its "cubin".

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::MutexGuard;

use cuda_sim::driver::{CudaError, Driver, KernelId, LibraryId, check_source};
use cuda_sim::exec::is_device_function;
use cuda_sim::memory::global::AllocationKind;
use cuda_sim::ptx::{self, LinkError};

use super::SIMULATOR;
use super::device::check_device;
use super::module::{self, Image};
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{Event, Link, Links, Log, lock, require_current, with_contexts};
use crate::status::{CallResult, Status, warn};
use crate::types::{CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUlinkState, CUmodule};

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

/// Types of inputs. Whatever the type, the simulator links PTX and the PTX in fat binaries.
const OBJECT: c_int = 3;
const LIBRARY: c_int = 4;
/// The largest type: LLVM bitcode.
const MAX_KIND: c_int = 5;

fn links() -> MutexGuard<'static, Links> {
    lock(&SIMULATOR.tables.links)
}

/// `cuLinkCreate`.
pub fn link_create(
    count: c_uint,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
    state: Out<CUlinkState>,
) -> CallResult {
    // SAFETY: `options` and `values` have `count` elements, as `cuLinkCreate` requires. The caller keeps the
    // log's buffer until the link is destroyed.
    let log = unsafe { module::options(count, options, values) }?;
    require_current()?;
    state.set(handle(links().create(log)));
    Ok(())
}

/// `cuLinkAddData`. The options of single inputs concern the assembler and are ignored.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn link_add(
    state: CUlinkState,
    kind: c_int,
    data: In<c_void>,
    size: usize,
    name: Option<&str>,
    _count: c_uint,
    _options: *mut c_int,
    _values: *mut *mut c_void,
) -> CallResult {
    // SAFETY: `data` has `size` bytes, as `cuLinkAddData` requires of its caller.
    let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size) };
    Ok(add_input(state, kind, name.unwrap_or("input"), bytes)?)
}

/// `cuLinkAddFile`.
pub fn link_add_file(
    state: CUlinkState,
    kind: c_int,
    path: &str,
    _count: c_uint,
    _options: *mut c_int,
    _values: *mut *mut c_void,
) -> CallResult {
    links().link(number(state))?;
    let bytes = module::read_file(path)?;
    Ok(add_input(state, kind, path, &bytes)?)
}

/// Adds an input to a link. After an error of the linker itself, all later calls fail with it.
fn add_input(state: CUlinkState, kind: c_int, name: &str, bytes: &[u8]) -> Result<(), CudaError> {
    let mut links = links();
    let link = links.link(number(state))?;
    if !(0..=MAX_KIND).contains(&kind) || link.linked.is_some() || bytes.is_empty() {
        return Err(CudaError::InvalidValue);
    }
    if let Some(error) = link.failure {
        return Err(error);
    }
    let bytes = match module::ptx_in_file(bytes)? {
        Some(ptx) => ptx,
        None if module::is_cubin(bytes) => {
            let reason = "error   : the simulator links only PTX";
            return Err(reject(link, CudaError::NotSupported, reason));
        }
        None => bytes,
    };
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let ptx = str::from_utf8(bytes).unwrap_or_default();
    if let Err(error) = check_source(ptx) {
        // As the driver does, ignores objects without code for the device.
        return match kind {
            OBJECT => Ok(()),
            LIBRARY => Err(reject(link, CudaError::Unknown, &error.log())),
            _ => Err(reject(link, error.code(), &error.log())),
        };
    }
    let input = (name.to_owned(), ptx.to_owned());
    // Check each input now, as the driver does, so that the error is that of this call.
    if let Err(error) = SIMULATOR.lock_driver()?.check_module(ptx) {
        let code = reject(link, error.code(), &error.log());
        links.assembly_failed = true;
        return Err(code);
    }
    link.inputs.push(input);
    if let Err(error) = ptx::check_definitions(&link.inputs) {
        return Err(fail(&mut links, state, &error));
    }
    if let Some(log) = &mut link.log {
        log.write("");
    }
    Ok(())
}

/// Reports an error of the linker, after which the link cannot be completed. Returns its code: once an input of any link
/// of the process has not assembled, the driver's is [`CudaError::Unknown`].
fn fail(links: &mut Links, state: CUlinkState, error: &LinkError) -> CudaError {
    let code = match links.assembly_failed {
        true => CudaError::Unknown,
        false => CudaError::InvalidSource,
    };
    match links.link(number(state)) {
        Ok(link) => {
            link.failure = Some(code);
            reject(link, code, &error.to_string())
        }
        Err(missing) => missing,
    }
}

/// Reports why an input does not link: in the caller's log, or on stderr if there is none. Returns the error.
fn reject(link: &mut Link, code: CudaError, reason: &str) -> CudaError {
    SIMULATOR.telemetry.emit(Event::ModuleRejected(reason));
    match &mut link.log {
        Some(log) => log.write(reason),
        None => warn(format_args!("linking failed: {reason}")),
    }
    code
}

/// `cuLinkComplete`.
pub fn link_complete(
    state: CUlinkState,
    out: Out<*mut c_void>,
    size: Option<Out<usize>>,
) -> CallResult {
    let mut links = links();
    let link = links.link(number(state))?;
    if link.linked.is_some() {
        return Err(CudaError::InvalidHandle.into());
    }
    if let Some(error) = link.failure {
        return Err(error.into());
    }
    let text = match ptx::link(&link.inputs, is_device_function) {
        Ok(text) => text,
        Err(error) => return Err(fail(&mut links, state, &error).into()),
    };
    // A parsed text contains no NUL.
    let text = link.linked.insert(CString::new(text).unwrap_or_default());
    out.set(text.as_ptr().cast_mut().cast());
    Out::set_optional(size, text.as_bytes_with_nul().len());
    Ok(())
}

/// `cuLinkDestroy`.
pub fn link_destroy(state: CUlinkState) -> CallResult {
    Ok(links().destroy(number(state))?)
}
