//! The functions that a compiler calls for a program with kernels: before `main`, at its end and at each
//! launch.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::without_provenance_mut;

use cuda_driver::say;
use cust_raw::CUstream;

use super::image::{Image, Wrapper};
use super::registry::{self, Part};
use crate::fork;
use crate::last_error::{call, keep};
use crate::start::context;
use crate::status::{Answer, Code, Error, SUCCESS};
use crate::stream::DefaultStream;
use crate::types::Dim3;

/// How a launch was configured by `<<<…>>>`.
#[derive(Clone, Copy)]
pub struct Configuration {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: usize,
    pub stream: CUstream,
}

thread_local! {
    /// Launches that are configured and not made: the arguments of one may be results of functions that
    /// launch others.
    static CONFIGURED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// A registered part as the number that the program keeps of it, which is not null.
fn handle(part: Part) -> *mut *mut c_void {
    without_provenance_mut(part + 1)
}

fn part(handle: *mut *mut c_void) -> Part {
    handle.addr().wrapping_sub(1)
}

/// A name in the device code.
///
/// # Safety
/// `name` must be null or a string.
unsafe fn owned(name: *const c_char) -> Option<CString> {
    // SAFETY: the caller's promise.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}

/// Takes note of a part of the program with its device code.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> *mut *mut c_void {
    // SAFETY: compilers give a wrapper.
    let image = unsafe { Image::of(wrapper.cast::<Wrapper>()) };
    handle(registry::write().add(image))
}

/// The part is complete.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Forgets a part of the program, which ends or is unloaded.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    // A child's lock may be one that a thread of its parent holds.
    if !fork::is_child() {
        registry::write().remove(part(handle));
    }
}

/// Takes note of a kernel.
///
/// # Safety
/// As a compiler calls it.
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
    // SAFETY: compilers give a name.
    if let Some(name) = unsafe { owned(name) } {
        registry::write().add_kernel(host.addr(), part(handle), name);
    }
}

/// Takes note of a variable of the device's.
///
/// # Safety
/// As a compiler calls it.
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
    // SAFETY: compilers give a name.
    if let Some(name) = unsafe { owned(name) } {
        registry::write().add_variable(host.addr(), part(handle), name);
    }
}

/// Keeps the configuration of a launch; the kernel's function on the host takes it.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: *mut c_void,
) -> c_uint {
    push(Configuration {
        grid,
        block,
        dynamic_shared,
        stream: stream.cast(),
    });
    0
}

/// Keeps the configuration of a launch.
pub fn push(configuration: Configuration) {
    CONFIGURED.with_borrow_mut(|configured| configured.push(configuration));
}

/// The configuration that was kept last.
pub fn pop() -> Option<Configuration> {
    CONFIGURED.with_borrow_mut(Vec::pop)
}

/// Gives back the configuration that was kept last.
///
/// # Safety
/// As a compiler calls it: each pointer takes what its name says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    dynamic_shared: *mut usize,
    stream: *mut c_void,
) -> Code {
    let Some(configuration) = pop() else {
        return keep(Err(Error::MISSING_CONFIGURATION));
    };
    // SAFETY: the caller's promise.
    unsafe {
        grid.write(configuration.grid);
        block.write(configuration.block);
        dynamic_shared.write(configuration.dynamic_shared);
        stream.cast::<CUstream>().write(configuration.stream);
    }
    SUCCESS
}

/// Takes note of a managed variable: the host reaches it through the pointer at `host`, which is set when
/// the part is complete.
///
/// # Safety
/// As a compiler calls it.
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
    // SAFETY: compilers give a name.
    if let Some(name) = unsafe { owned(name) } {
        let mut registry = registry::write();
        registry.add_variable(host.addr(), part(handle), name);
        registry.add_managed(host.expose_provenance(), part(handle));
    }
}

/// Sets the pointers to a part's managed variables, once all are registered.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let set = || {
        if registry::read().has_managed(part(handle)) {
            let context = context()?;
            registry::write().set_managed(context, part(handle))?;
        }
        Ok(())
    };
    let done = call("__cudaInitModule", DefaultStream::Legacy, set);
    (done == SUCCESS).into()
}

/// Texture references are not there.
///
/// # Safety
/// As a compiler calls it.
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
    // SAFETY: compilers give a name.
    keep(unsafe { no_reference("texture", "cudaCreateTextureObject", name) });
}

/// Surface references are not there.
///
/// # Safety
/// As a compiler calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterSurface(
    _handle: *mut *mut c_void,
    _host: *const c_void,
    _device: *mut *const c_void,
    name: *const c_char,
    _dimensions: c_int,
    _external: c_int,
) {
    // SAFETY: compilers give a name.
    keep(unsafe { no_reference("surface", "cudaCreateSurfaceObject", name) });
}

/// # Safety
/// `name` must be null or a string.
unsafe fn no_reference(kind: &str, instead: &str, name: *const c_char) -> Answer {
    // SAFETY: the caller's promise.
    let name = unsafe { owned(name) }.unwrap_or_default();
    say(format_args!(
        "{}: {kind} references are gone from CUDA 12 and not there; use {instead}",
        name.to_string_lossy()
    ));
    Err(Error::NOT_SUPPORTED)
}
