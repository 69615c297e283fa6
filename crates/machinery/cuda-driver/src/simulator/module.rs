//! Modules: loading of PTX, and lookup of kernels and variables.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, ModuleError, ModuleId};
use cust_raw::{CUdeviceptr, CUfunction, CUmodule};

use super::queue::{self, Awaited};
use super::raw::{Out, handle, number, set_if_wanted, text};
use super::watch::{Event, tell};
use super::{driver, fat_binary, machine, require_current};
use crate::report::say;
use crate::status::{Answer, Status};

/// The options of `cuModuleLoadDataEx` (`CUjit_option`) that the simulator reads. The others concern the
/// assembler, which
/// it does not have.
const INFO_LOG_SIZE: c_int = 4;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

/// The magic numbers of images with machine code: an ELF file and a fat binary.
const ELF: [u8; 4] = *b"\x7fELF";
const FAT_BINARY: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// `cuModuleLoad`.
pub unsafe fn load_file(module: *mut CUmodule, path: *const c_char) -> Answer {
    // SAFETY: `module` is null or writable, and `path` is null or a NUL-terminated string, as `cuModuleLoad`
    // requires of its caller.
    let (module, path) = unsafe { (Out::new(module)?, text(path)?) };
    load_image(module, &file(path)?, None)
}

/// Reads a module's file; from a fat binary, the PTX in it.
pub fn file(path: &str) -> Result<Vec<u8>, CudaError> {
    let image = std::fs::read(path).map_err(|error| {
        say(format_args!("{path}: {error}"));
        CudaError::FileNotFound
    })?;
    Ok(match fat_binary::ptx_in(&image)? {
        Some(ptx) => ptx.to_vec(),
        None => image,
    })
}

/// `cuModuleLoadData`.
pub unsafe fn load(module: *mut CUmodule, image: *const c_void) -> Answer {
    // SAFETY: `module` is null or writable and `image` null or a valid image, as `cuModuleLoadData` requires.
    let (module, image) = unsafe { (Out::new(module)?, image_bytes(image)?) };
    load_image(module, image, None)
}

/// `cuModuleLoadDataEx`.
pub unsafe fn load_with_options(
    module: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *mut c_int,
    values: *mut *mut c_void,
) -> Answer {
    // SAFETY: `module` is null or writable and `image` null or a valid image, as `cuModuleLoadDataEx` requires.
    let (module, image) = unsafe { (Out::new(module)?, image_bytes(image)?) };
    // SAFETY: `options` and `values` have `count` elements, as `cuModuleLoadDataEx` requires of its caller.
    let log = unsafe { self::options(count, options, values) }?;
    load_image(module, image, log)
}

/// Reads the options of a load. Returns the error log, if the caller passed one.
///
/// # Safety
/// `options` and `values` must be null or have `count` elements.
pub unsafe fn options(
    count: c_uint,
    options: *mut c_int,
    values: *mut *mut c_void,
) -> Result<Option<Log>, CudaError> {
    if count > 0 && (options.is_null() || values.is_null()) {
        return Err(CudaError::InvalidValue);
    }
    let mut log = None;
    let mut log_size = None;
    for i in 0..count as usize {
        // SAFETY: both arrays have `count` elements, by this function's contract.
        unsafe {
            match *options.add(i) {
                ERROR_LOG => log = Some((*values.add(i)).cast::<u8>()),
                ERROR_LOG_SIZE => log_size = Some(values.add(i)),
                // The info log stays empty.
                INFO_LOG_SIZE => *values.add(i) = std::ptr::null_mut(),
                _ => {}
            }
        }
    }
    Ok(match (log, log_size) {
        (Some(text), Some(size)) if !text.is_null() => Some(Log { text, size }),
        _ => None,
    })
}

/// `cuModuleUnload`.
pub unsafe fn unload(module: CUmodule) -> Answer {
    queue::wait(Awaited::All);
    let (mut driver, context, module) = in_module(module)?;
    Ok(driver.unload_module(context, module)?)
}

/// `cuModuleGetFunction`.
pub unsafe fn function(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> Answer {
    // SAFETY: `function` is null or writable, and `name` is null or a NUL-terminated string, as
    // `cuModuleGetFunction` requires of its caller.
    let (function, name) = unsafe { (Out::new(function)?, text(name)?) };
    let (mut driver, context, module) = in_module(module)?;
    let FunctionId(found) = driver.function(context, module, name)?;
    function.set(handle(found));
    Ok(())
}

/// `cuModuleGetFunctionCount`.
pub unsafe fn function_count(count: *mut c_uint, module: CUmodule) -> Answer {
    // SAFETY: `count` is null or writable, as `cuModuleGetFunctionCount` requires of its caller.
    let count = unsafe { Out::new(count) }?;
    let (mut driver, context, module) = in_module(module)?;
    count.set(driver.functions(context, module)?.len() as c_uint);
    Ok(())
}

/// `cuModuleEnumerateFunctions`: writes at most `room` handles.
pub unsafe fn functions(functions: *mut CUfunction, room: c_uint, module: CUmodule) -> Answer {
    if functions.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let (mut driver, context, module) = in_module(module)?;
    let found = driver.functions(context, module)?;
    for (i, function) in found.into_iter().take(room as usize).enumerate() {
        // SAFETY: `functions` has room for `room` handles, as `cuModuleEnumerateFunctions` requires, and `i`
        // is less.
        unsafe { functions.add(i).write(handle(function.0)) };
    }
    Ok(())
}

/// `cuModuleGetLoadingMode`: modules are loaded eagerly.
pub unsafe fn loading_mode(mode: *mut c_int) -> Answer {
    /// `CU_MODULE_EAGER_LOADING`.
    const EAGER: c_int = 1;
    // SAFETY: `mode` is null or writable, as `cuModuleGetLoadingMode` requires of its caller.
    unsafe { Out::new(mode) }?.set(EAGER);
    Ok(())
}

/// `cuModuleGetGlobal`.
pub unsafe fn global(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> Answer {
    // SAFETY: `name` is null or a NUL-terminated string, as `cuModuleGetGlobal` requires of its caller.
    let name = unsafe { text(name) }?;
    let (driver, context, module) = in_module(module)?;
    let found = driver.variable(context, module, name)?;
    // SAFETY: `address` and `bytes` are null or writable, as `cuModuleGetGlobal` requires of its caller.
    unsafe {
        set_if_wanted(address, found.0);
        set_if_wanted(bytes, found.1 as usize);
    }
    Ok(())
}

/// Locks the driver. Returns it with the context and the number of a module: the context it was loaded into,
/// whatever
/// context is current.
fn in_module(
    module: CUmodule,
) -> Result<(MutexGuard<'static, Driver>, ContextId, ModuleId), CudaError> {
    let module = ModuleId(number(module));
    let driver = machine()?;
    let context = driver.module_context(module)?;
    Ok((driver, context, module))
}

/// The error log buffer of `cuModuleLoadDataEx`.
pub struct Log {
    text: *mut u8,
    /// The value of `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`: the buffer's size on entry, the bytes used on
    /// return. The number
    /// is stored in place of the pointer.
    size: *mut *mut c_void,
}

// SAFETY: the program keeps the buffer until the load returns or the link is destroyed, and one thread writes
// at a time.
unsafe impl Send for Log {}

impl Log {
    /// Writes `message` and a NUL, truncated to the buffer's size.
    pub fn write(&self, message: &str) {
        // SAFETY: `size` is readable and writable, and `text` has that many bytes, by the contract of
        // `options`.
        unsafe {
            let room = (*self.size).addr() as u32 as usize;
            let kept = message.floor_char_boundary(room.saturating_sub(1));
            if room > 0 {
                std::ptr::copy_nonoverlapping(message.as_ptr(), self.text, kept);
                self.text.add(kept).write(0);
            }
            *self.size = std::ptr::without_provenance_mut(room.min(kept + 1));
        }
    }
}

fn load_image(module: Out<CUmodule>, image: &[u8], log: Option<Log>) -> Answer {
    let context = require_current()?;
    let loaded = load_source(image, log, |driver, ptx| driver.load_module(context, ptx))?;
    module.set(handle(loaded.0));
    Ok(())
}

/// Loads PTX with `load`. On failure, writes the reason to the caller's log, or to stderr if there is none.
pub fn load_source<T>(
    image: &[u8],
    log: Option<Log>,
    load: impl FnOnce(&mut Driver, &str) -> Result<T, ModuleError>,
) -> Result<T, Status> {
    let mut driver = driver()?;
    let image = image.split(|&byte| byte == 0).next().unwrap_or_default();
    if image.starts_with(&ELF) || image.starts_with(&FAT_BINARY) {
        drop(driver);
        let why = "the simulator loads PTX, not machine code (cubin or fat binary)";
        say(format_args!("{why}"));
        tell(Event::Refused(why));
        return Err(CudaError::NotSupported.into());
    }
    let loaded = match str::from_utf8(image) {
        Ok(ptx) => load(&mut driver, ptx).map_err(|error| (error.code(), error.to_string())),
        Err(error) => Err((
            CudaError::InvalidImage,
            format!("this is no text: byte {} is not UTF-8", error.valid_up_to()),
        )),
    };
    // Unlock the driver before writing messages.
    drop(driver);
    match loaded {
        Ok(loaded) => {
            if let Some(log) = log {
                log.write("");
            }
            Ok(loaded)
        }
        Err((code, message)) => {
            tell(Event::Refused(&message));
            match log {
                Some(log) => log.write(&message),
                None => say(format_args!("the PTX does not load: {message}")),
            }
            Err(Status::from(code))
        }
    }
}

/// Returns a module image up to its first NUL; for a fat binary, the PTX in it. Machine code continues after
/// the NUL, but
/// its magic number, which identifies it, comes before.
///
/// # Safety
/// `image` must be null or a NUL-terminated PTX text, a cubin or a fat binary.
pub unsafe fn image_bytes<'a>(image: *const c_void) -> Result<&'a [u8], CudaError> {
    if image.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `image` is not null, so it is a valid image by this function's contract.
    if let Some(ptx) = unsafe { fat_binary::ptx(image) }? {
        return Ok(ptx);
    }
    // SAFETY: `image` is a NUL-terminated text, or an ELF file, which has a NUL in its first 16 bytes.
    Ok(unsafe { CStr::from_ptr(image.cast()) }.to_bytes())
}
