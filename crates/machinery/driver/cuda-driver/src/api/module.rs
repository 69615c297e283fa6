//! Modules: loading of PTX, and lookup of kernels and variables.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::slice;

use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, ModuleError, ModuleId};

use super::{SIMULATOR, fat_binary};
use crate::arguments::{Argument, In, Out, handle, required};
use crate::log::warn;
use crate::simulator::{Event, Locked, Log, WaitTarget, require_current};
use crate::status::{CallResult, Status};
use crate::types::{CUdeviceptr, CUfunction, CUmodule};

/// The options of `cuModuleLoadDataEx` (`CUjit_option`) that the simulator reads. The others concern the
/// assembler, which it does not have.
const MAX_REGISTERS: c_int = 0;
const INFO_LOG: c_int = 3;
const INFO_LOG_SIZE: c_int = 4;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;
const TARGET: c_int = 9;
/// All options: those of CUDA 13.
const OPTIONS: RangeInclusive<c_int> = 0..=34;

/// The values of `CUjit_target` without the bits for architecture-specific features.
const TARGETS: [usize; 22] = [
    30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121,
];
/// The bits for architecture-specific and family-specific features in `CUjit_target`.
const TARGET_FEATURES: usize = 0x30000;

/// The magic numbers of images with machine code: an ELF file and a fat binary.
const ELF: [u8; 4] = *b"\x7fELF";
const FAT_BINARY: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// `cuModuleLoad`.
pub fn load_file(module: Out<CUmodule>, path: &str) -> CallResult {
    load_image(module, &read_file(path)?, None)
}

/// Reads a module's file; from a fat binary, the PTX in it. Returns [`CudaError::OutOfMemory`] for a directory, as
/// the driver does.
pub fn read_file(path: &str) -> Result<Vec<u8>, CudaError> {
    if path.is_empty() {
        return Err(CudaError::InvalidValue);
    }
    let image = std::fs::read(path).map_err(|error| {
        warn(format_args!("{path}: {error}"));
        match error.kind() {
            ErrorKind::IsADirectory => CudaError::OutOfMemory,
            _ => CudaError::FileNotFound,
        }
    })?;
    Ok(match fat_binary::ptx_in_file(&image)? {
        Some(ptx) => ptx.to_vec(),
        None => image,
    })
}

/// `cuModuleLoadData`.
pub fn load(module: Out<CUmodule>, image: Image<'_>) -> CallResult {
    load_image(module, image.0, None)
}

/// `cuModuleLoadDataEx`.
pub fn load_with_options(
    module: Out<CUmodule>,
    image: Image<'_>,
    count: c_uint,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
) -> CallResult {
    // SAFETY: `options` and `values` have `count` elements, as `cuModuleLoadDataEx` requires of its caller.
    let log = unsafe { self::options(count, options, values) }?;
    load_image(module, image.0, log)
}

/// Reads the options of a load. Returns the error log, if the caller passed one. Fails with
/// [`CudaError::InvalidValue`] for unknown options and targets, a limit of zero registers, and a log without a
/// size or a size without a log.
///
/// # Safety
/// `options` and `values` must be null or have `count` elements.
pub unsafe fn options(
    count: c_uint,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
) -> Result<Option<Log>, CudaError> {
    if count == 0 {
        return Ok(None);
    }
    // SAFETY: `options` has `count` elements, by this function's contract.
    let options = unsafe { required(options)?.read_all(count as usize) };
    let values = required(values)?.as_ptr().cast_mut();
    let (mut log, mut log_size) = (None, None);
    let (mut info_log, mut info_log_size) = (None, None);
    for (i, option) in options.into_iter().enumerate() {
        // SAFETY: `values` has `count` elements, by this function's contract.
        let value = unsafe { values.add(i) };
        match option {
            // SAFETY: `value` is one of the elements.
            ERROR_LOG => log = Some(unsafe { value.read() }.cast::<u8>()),
            ERROR_LOG_SIZE => log_size = Some(value),
            // SAFETY: `value` is one of the elements.
            INFO_LOG => info_log = Some(unsafe { value.read() }.cast::<u8>()),
            INFO_LOG_SIZE => info_log_size = Some(value),
            MAX_REGISTERS | TARGET => {
                // SAFETY: `value` is one of the elements.
                let number = unsafe { value.read() }.addr() as u32 as usize;
                let is_valid = match option {
                    MAX_REGISTERS => number > 0,
                    _ => TARGETS.contains(&(number & !TARGET_FEATURES)),
                };
                if !is_valid {
                    return Err(CudaError::InvalidValue);
                }
            }
            option if OPTIONS.contains(&option) => {}
            _ => return Err(CudaError::InvalidValue),
        }
    }
    if info_log.is_some() != info_log_size.is_some() || log.is_some() != log_size.is_some() {
        return Err(CudaError::InvalidValue);
    }
    // The info log stays empty.
    if let Some(size) = info_log_size {
        // SAFETY: `size` is one of the elements, which is an input and an output, and the log has this size.
        unsafe {
            if let Some(text) = info_log.filter(|text| !text.is_null() && (*size).addr() as u32 > 0)
            {
                text.write(0);
            }
            size.write(std::ptr::null_mut());
        }
    }
    Ok(match (log, log_size) {
        // SAFETY: the C function requires that the buffer has the size that the other option states.
        (Some(text), Some(size)) if !text.is_null() => Some(unsafe { Log::new(text, size) }),
        _ => None,
    })
}

/// `cuModuleUnload`.
pub fn unload(module: ModuleId) -> CallResult {
    SIMULATOR.wait(WaitTarget::All);
    SIMULATOR.host_waited(WaitTarget::All);
    let (mut driver, context) = lock_module(module)?;
    Ok(driver.unload_module(context, module)?)
}

/// `cuModuleGetFunction`.
pub fn function(function: Out<CUfunction>, module: ModuleId, name: &str) -> CallResult {
    let (mut driver, context) = lock_module(module)?;
    if name.is_empty() {
        return Err(CudaError::InvalidValue.into());
    }
    let FunctionId(number) = driver.function(context, module, name)?;
    function.set(handle(number));
    Ok(())
}

/// `cuModuleGetFunctionCount`.
pub fn function_count(count: Out<c_uint>, module: ModuleId) -> CallResult {
    let (mut driver, context) = lock_module(module)?;
    count.set(driver.functions(context, module)?.len() as c_uint);
    Ok(())
}

/// `cuModuleEnumerateFunctions`: writes at most `capacity` handles.
pub fn functions(functions: Out<CUfunction>, capacity: c_uint, module: ModuleId) -> CallResult {
    let (mut driver, context) = lock_module(module)?;
    let ids = driver.functions(context, module)?;
    let handles = ids.into_iter().map(|function| handle(function.0));
    // SAFETY: `functions` has room for `capacity` handles, as `cuModuleEnumerateFunctions` requires.
    unsafe { functions.set_all(handles.take(capacity as usize)) };
    Ok(())
}

/// `cuModuleGetLoadingMode`: as the driver does, reports lazy loading unless the environment requests eager loading.
pub fn loading_mode(mode: Out<c_int>) -> CallResult {
    /// `CU_MODULE_EAGER_LOADING` and `CU_MODULE_LAZY_LOADING`.
    const EAGER: c_int = 1;
    const LAZY: c_int = 2;
    let is_eager = std::env::var_os("CUDA_MODULE_LOADING").is_some_and(|value| value == "EAGER");
    mode.set(if is_eager { EAGER } else { LAZY });
    Ok(())
}

/// `cuModuleGetGlobal`.
pub fn global(
    address: Option<Out<CUdeviceptr>>,
    bytes: Option<Out<usize>>,
    module: ModuleId,
    name: &str,
) -> CallResult {
    let (driver, context) = lock_module(module)?;
    if address.is_none() && bytes.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let (base, size) = driver.variable(context, module, name)?;
    Out::set_optional(address, base);
    Out::set_optional(bytes, size as usize);
    Ok(())
}

/// Locks the driver. Returns it with the context that a module was loaded into, whatever context is current.
pub fn lock_module(module: ModuleId) -> Locked<'static, ContextId> {
    let driver = SIMULATOR.lock_driver()?;
    let context = driver.module_context(module)?;
    Ok((driver, context))
}

/// A module image up to its first NUL; for a fat binary, the PTX in it. Machine code continues after the NUL, but
/// its magic number, which identifies it, comes before.
pub struct Image<'a>(pub &'a [u8]);

impl Argument<*const c_void> for Image<'_> {
    unsafe fn from_c(image: *const c_void) -> Result<Self, CudaError> {
        if image.is_null() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: `image` is not null, so the C function requires a NUL-terminated PTX text, a cubin or a fat
        // binary.
        if let Some(ptx) = unsafe { fat_binary::ptx(image) }? {
            return Ok(Self(ptx));
        }
        // SAFETY: `image` is a NUL-terminated text, or an ELF file, which has a NUL in its first 16 bytes.
        let text = unsafe { CStr::from_ptr(image.cast()) }.to_bytes();
        if text == fat_binary::ELF_IDENTIFICATION {
            // SAFETY: `image` is an ELF file of 64 bits, whose header is longer.
            let header = unsafe { slice::from_raw_parts(image.cast(), fat_binary::ELF_BYTES_READ) };
            return Ok(Self(header));
        }
        Ok(Self(text))
    }
}

fn load_image(module: Out<CUmodule>, image: &[u8], log: Option<Log>) -> CallResult {
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
    let mut driver = SIMULATOR.lock_driver_drained()?;
    let is_cubin = fat_binary::is_cubin(image);
    let image = image.split(|&byte| byte == 0).next().unwrap_or_default();
    if image.starts_with(&ELF) && !is_cubin {
        return Err(CudaError::InvalidImage.into());
    }
    if is_cubin || image.starts_with(&FAT_BINARY) {
        drop(driver);
        let reason = "the simulator loads PTX, not machine code (cubin or fat binary)";
        warn(format_args!("{reason}"));
        SIMULATOR.telemetry.emit(Event::ModuleRejected(reason));
        return Err(CudaError::NotSupported.into());
    }
    let loaded = match str::from_utf8(image) {
        Ok(ptx) => {
            load(&mut driver, ptx).map_err(|error| (error.code(), error.to_string(), error.log()))
        }
        Err(error) => {
            let position = error.valid_up_to();
            let message = format!("the image is not text: byte {position} is not UTF-8");
            Err((CudaError::InvalidImage, message.clone(), message))
        }
    };
    // Unlock the driver before writing messages.
    drop(driver);
    match loaded {
        Ok(loaded) => {
            if let Some(mut log) = log {
                log.write("");
            }
            Ok(loaded)
        }
        Err((code, message, log_text)) => {
            SIMULATOR.telemetry.emit(Event::ModuleRejected(&message));
            match log {
                Some(mut log) => log.write(&log_text),
                None => warn(format_args!("the PTX does not load: {message}")),
            }
            Err(Status::from(code))
        }
    }
}
