//! The functions that compilers call in programs with kernels: before `main`, at exit and at each launch.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::without_provenance_mut;

use cuda_driver::types::CUstream;
use cuda_driver::{in_child, warn};

use crate::context::context;
use crate::errors::{Code, Error, Result, SUCCESS};
use crate::functions::{DefaultStream, Entry, call, record};
use crate::program::{Image, ImageId, REGISTRY, Wrapper};
use crate::types::Dim3;

/// The launch configuration in `<<<…>>>`.
#[derive(Clone, Copy)]
pub(crate) struct CallConfiguration {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: usize,
    pub stream: CUstream,
}

thread_local! {
    /// Pushed launch configurations that have not been popped. It is a stack, because an argument of a launch
    /// may be the result of a function that launches another kernel.
    static CALL_CONFIGURATIONS: RefCell<Vec<CallConfiguration>> = const { RefCell::new(Vec::new()) };
}

/// Converts an image's index to a handle, which must not be null.
fn to_handle(image_id: ImageId) -> *mut *mut c_void {
    without_provenance_mut(image_id + 1)
}

fn image_id(handle: *mut *mut c_void) -> ImageId {
    handle.addr().wrapping_sub(1)
}

/// Copies a name in the device code. Returns `None` for null.
///
/// # Safety
/// `name` must be null or a C string.
unsafe fn copy_name(name: *const c_char) -> Option<CString> {
    // SAFETY: `name` is not null, hence a C string.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}

/// Registers a fat binary.
///
/// # Safety
/// `wrapper` must be the fat binary wrapper that a CUDA compiler emits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> *mut *mut c_void {
    // SAFETY: compilers pass the wrapper that they emit.
    let image = unsafe { Image::from_wrapper(wrapper.cast::<Wrapper>()) };
    to_handle(REGISTRY.write().add_image(image))
}

/// Completes a fat binary's registration.
///
/// # Safety
/// Safe with any arguments; `unsafe` only to match the C declaration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Unregisters a fat binary at exit or when its library is unloaded.
///
/// # Safety
/// No kernel of the fat binary may be running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    // In a forked child the lock may be held by a thread that exists only in the parent.
    if !in_child() {
        REGISTRY.write().remove(image_id(handle));
    }
}

/// Registers a kernel.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_char,
    _device: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut c_int,
) {
    // SAFETY: compilers pass the kernel's name, a C string.
    if let Some(name) = unsafe { copy_name(name) } {
        REGISTRY
            .write()
            .add_kernel(host.addr(), image_id(handle), name);
    }
}

/// Registers a device variable.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *mut c_char,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: compilers pass the variable's name, a C string.
    if let Some(name) = unsafe { copy_name(name) } {
        REGISTRY
            .write()
            .add_variable(host.addr(), image_id(handle), name);
    }
}

/// Pushes a launch configuration, which the kernel's host stub pops.
///
/// # Safety
/// Safe with any arguments; `unsafe` only to match the C declaration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: *mut c_void,
) -> c_uint {
    push(CallConfiguration {
        grid,
        block,
        dynamic_shared,
        stream: stream.cast(),
    });
    0
}

/// Pushes a launch configuration.
pub(crate) fn push(configuration: CallConfiguration) {
    CALL_CONFIGURATIONS.with_borrow_mut(|configurations| configurations.push(configuration));
}

/// Pops the configuration that was pushed last, or returns `None`.
pub(crate) fn pop() -> Option<CallConfiguration> {
    CALL_CONFIGURATIONS.with_borrow_mut(Vec::pop)
}

/// Pops the configuration that was pushed last.
///
/// # Safety
/// Every pointer must be valid for writes of its type; `stream` points to a stream handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    dynamic_shared: *mut usize,
    stream: *mut c_void,
) -> Code {
    let Some(configuration) = pop() else {
        return record(Err(Error::MISSING_CONFIGURATION));
    };
    // SAFETY: the compiler's stub passes the addresses of its local variables.
    unsafe {
        grid.write(configuration.grid);
        block.write(configuration.block);
        dynamic_shared.write(configuration.dynamic_shared);
        stream.cast::<CUstream>().write(configuration.stream);
    }
    SUCCESS
}

/// Registers a managed variable. The host accesses it through the pointer at `host`, which is set when the
/// registration is complete.
///
/// # Safety
/// `name` must be null or a C string, and `host` must be valid for writes until the fat binary is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    host: *mut *mut c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: compilers pass the variable's name, a C string.
    if let Some(name) = unsafe { copy_name(name) } {
        let mut registry = REGISTRY.write();
        registry.add_variable(host.addr(), image_id(handle), name);
        registry.add_managed(host.expose_provenance(), image_id(handle));
    }
}

/// Sets the pointers to a fat binary's managed variables once all are registered.
///
/// # Safety
/// The pointers registered by `__cudaRegisterManagedVar` must still be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let set = || {
        if REGISTRY.read().has_managed(image_id(handle)) {
            let context = context()?;
            REGISTRY.write().set_managed(context, image_id(handle))?;
        }
        Ok(())
    };
    let done = call("__cudaInitModule", DefaultStream::Legacy, set);
    (done == SUCCESS).into()
}

/// Rejects a texture reference, which CUDA 12 removed.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterTexture(
    _handle: *mut *mut c_void,
    _host: *const c_void,
    _device: *mut *const c_void,
    name: *const c_char,
    _dimensions: c_int,
    _normalized: c_int,
    _external: c_int,
) {
    // SAFETY: compilers pass the reference's name, a C string.
    record(unsafe { unsupported_reference("texture", "cudaCreateTextureObject", name) });
}

/// Rejects a surface reference, which CUDA 12 removed.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterSurface(
    _handle: *mut *mut c_void,
    _host: *const c_void,
    _device: *mut *const c_void,
    name: *const c_char,
    _dimensions: c_int,
    _external: c_int,
) {
    // SAFETY: compilers pass the reference's name, a C string.
    record(unsafe { unsupported_reference("surface", "cudaCreateSurfaceObject", name) });
}

/// Reports an unsupported reference and the API that replaces it.
///
/// `name` must be null or a C string.
unsafe fn unsupported_reference(kind: &str, replacement: &str, name: *const c_char) -> Result {
    // SAFETY: `name` is null or a C string.
    let name = unsafe { copy_name(name) }.unwrap_or_default();
    warn(format_args!(
        "{}: {kind} references were removed in CUDA 12 and are not supported; use {replacement}",
        name.to_string_lossy()
    ));
    Err(Error::NOT_SUPPORTED)
}

/// The functions of this module.
pub(crate) static FUNCTIONS: [Entry; 11] = entries![
    __cudaRegisterFatBinary,
    __cudaRegisterFatBinaryEnd,
    __cudaUnregisterFatBinary,
    __cudaRegisterFunction,
    __cudaRegisterVar,
    __cudaPushCallConfiguration,
    __cudaPopCallConfiguration,
    __cudaRegisterManagedVar,
    __cudaInitModule,
    __cudaRegisterTexture,
    __cudaRegisterSurface,
];
