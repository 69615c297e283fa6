//! Modules: loading of PTX, and lookup of kernels and variables.
//!
//! An image may be a fat binary, with machine code and PTX for several GPUs, in memory or in a file; its uncompressed PTX is
//! extracted. The format is undocumented; this code reads the fat binaries of CUDA 9 to 13.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::slice;

use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, ModuleError, ModuleId};

use super::SIMULATOR;
use crate::arguments::{Argument, In, Out, handle, required};
use crate::simulator::{Event, Locked, Log, WaitTarget, require_current};
use crate::status::{CallResult, Status, warn};
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
    Ok(match ptx_in_file(&image)? {
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
        if let Some(ptx) = unsafe { ptx(image) }? {
            return Ok(Self(ptx));
        }
        // SAFETY: `image` is a NUL-terminated text, or an ELF file, which has a NUL in its first 16 bytes.
        let text = unsafe { CStr::from_ptr(image.cast()) }.to_bytes();
        if text == ELF_IDENTIFICATION {
            // SAFETY: `image` is an ELF file of 64 bits, whose header is longer.
            let header = unsafe { slice::from_raw_parts(image.cast(), ELF_BYTES_READ) };
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
    let is_cubin = is_cubin(image);
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

/// The magic number of the wrapper structure that a compiler places in a program, and the offset of the
/// image's address.
const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPED_IMAGE: usize = 8;

/// The magic number of a fat binary.
const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// The kind of an entry that contains PTX instead of machine code.
const PTX: u16 = 1;

/// Offsets in a fat binary's header: size of the header, size of all entries.
const HEADER_SIZE: usize = 6;
const ENTRIES_SIZE: usize = 8;

/// Size of the part of the header that is read here.
const HEADER_BYTES_READ: usize = 16;

/// Offsets in an entry's header: kind, size of the header, size of the content, GPU architecture, and
/// uncompressed size, which is 0 for uncompressed content.
const ENTRY_KIND: usize = 0;
const ENTRY_HEADER_SIZE: usize = 4;
const CONTENT_SIZE: usize = 8;
const ENTRY_GPU: usize = 28;
const UNCOMPRESSED_SIZE: usize = 56;

/// The smallest entry header that has all these fields.
const MIN_ENTRY_HEADER: usize = 64;

/// Returns the PTX for the newest GPU in an image that is a fat binary; `None` if it is not one. Returns
/// [`CudaError::NotSupported`] and prints the reason if it contains no usable PTX.
///
/// # Safety
/// `image` must be an image for `cuModuleLoadData` or `cuModuleLoadFatBinary` that outlives the result.
pub unsafe fn ptx<'a>(image: *const c_void) -> Result<Option<&'a [u8]>, CudaError> {
    // SAFETY: `image` is a valid image, by this function's contract: if it starts with a magic number, it has
    // the complete header and all entries.
    unsafe {
        let mut image = image;
        if starts_with(image, WRAPPER_MAGIC) {
            image = read_at::<*const c_void>(image, WRAPPED_IMAGE);
            if image.is_null() || !starts_with(image, MAGIC) {
                return Err(CudaError::InvalidImage);
            }
        }
        match starts_with(image, MAGIC) {
            true => {
                let (header_size, size) = sizes(image);
                let entries_bytes = image.cast::<u8>().add(header_size);
                newest_ptx(entries(std::slice::from_raw_parts(entries_bytes, size))).map(Some)
            }
            false => Ok(None),
        }
    }
}

/// Same as [`ptx`], for an image in a file of known length. Returns [`CudaError::InvalidImage`] if its sizes
/// exceed the file.
pub fn ptx_in_file(file: &[u8]) -> Result<Option<&[u8]>, CudaError> {
    if !file.starts_with(&MAGIC) {
        return Ok(None);
    }
    if file.len() < HEADER_BYTES_READ {
        return Err(CudaError::InvalidImage);
    }
    let image = file.as_ptr().cast();
    // SAFETY: the file has at least `HEADER_BYTES_READ` bytes.
    let (header_size, size) = unsafe { sizes(image) };
    let end = header_size
        .checked_add(size)
        .filter(|&end| end <= file.len());
    let entries_bytes = &file[header_size..end.ok_or(CudaError::InvalidImage)?];
    newest_ptx(entries(entries_bytes)).map(Some)
}

/// The identification of an ELF file of 64 bits, little-endian, up to its first NUL.
const ELF_IDENTIFICATION: &[u8] = b"\x7fELF\x02\x01\x01";
/// Bytes of an ELF file's header that are read here.
const ELF_BYTES_READ: usize = 20;

/// Returns true for a file of machine code: an ELF file for NVIDIA's GPUs, with `EM_CUDA` as the machine.
pub fn is_cubin(file: &[u8]) -> bool {
    const MACHINE: std::ops::Range<usize> = 18..20;
    const CUDA: [u8; 2] = 190_u16.to_le_bytes();
    file.starts_with(ELF_IDENTIFICATION) && file.get(MACHINE) == Some(&CUDA)
}

/// Returns true if an image starts with these bytes, none of which is NUL. Stops reading at the first
/// difference, because a text may be shorter.
///
/// # Safety
/// `image` must be readable up to its first NUL.
unsafe fn starts_with(image: *const c_void, prefix: [u8; 4]) -> bool {
    let mut bytes = prefix.into_iter().enumerate();
    // SAFETY: `image` is readable up to its first NUL, and all bytes before `offset` are equal and not NUL.
    bytes.all(|(offset, byte)| unsafe { read_at::<u8>(image, offset) } == byte)
}

/// One entry of a fat binary.
#[derive(Clone, Copy)]
struct Entry<'a> {
    kind: u16,
    gpu: u32,
    is_compressed: bool,
    content: &'a [u8],
}

/// Returns the size of a fat binary's header and of all its entries.
///
/// # Safety
/// `image` must have at least [`HEADER_BYTES_READ`] bytes.
unsafe fn sizes(image: *const c_void) -> (usize, usize) {
    // SAFETY: both fields are in the first `HEADER_BYTES_READ` bytes, which are readable by this function's
    // contract.
    unsafe {
        (
            read_at::<u16>(image, HEADER_SIZE).into(),
            read_at::<u64>(image, ENTRIES_SIZE) as usize,
        )
    }
}

/// Returns the entries of a fat binary; stops at one that exceeds it.
fn entries(mut bytes_left: &[u8]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    while bytes_left.len() >= MIN_ENTRY_HEADER {
        let start = bytes_left.as_ptr().cast::<c_void>();
        // SAFETY: at least `MIN_ENTRY_HEADER` bytes are left, which contain all five fields.
        let (kind, header_size, size, gpu, uncompressed) = unsafe {
            (
                read_at::<u16>(start, ENTRY_KIND),
                read_at::<u32>(start, ENTRY_HEADER_SIZE) as usize,
                read_at::<u64>(start, CONTENT_SIZE) as usize,
                read_at::<u32>(start, ENTRY_GPU),
                read_at::<u64>(start, UNCOMPRESSED_SIZE),
            )
        };
        let Some(end) = header_size
            .checked_add(size)
            .filter(|&end| end <= bytes_left.len())
        else {
            break;
        };
        if header_size < MIN_ENTRY_HEADER {
            break;
        }
        entries.push(Entry {
            kind,
            gpu,
            is_compressed: uncompressed != 0,
            content: &bytes_left[header_size..end],
        });
        bytes_left = &bytes_left[end..];
    }
    entries
}

fn newest_ptx<'a>(entries: Vec<Entry<'a>>) -> Result<&'a [u8], CudaError> {
    let ptx = entries.iter().filter(|entry| entry.kind == PTX);
    let uncompressed_ptx = ptx.clone().filter(|entry| !entry.is_compressed);
    if let Some(entry) = uncompressed_ptx.max_by_key(|entry| entry.gpu) {
        return Ok(entry.content);
    }
    let contents = match ptx.count() {
        0 => "no PTX",
        _ => "only compressed PTX",
    };
    let message =
        format!("the simulator loads PTX, not machine code: this fat binary contains {contents}");
    warn(format_args!("{message}"));
    SIMULATOR.telemetry.emit(Event::ModuleRejected(&message));
    Err(CudaError::NotSupported)
}

/// Reads a number at an offset, aligned or not.
///
/// # Safety
/// The number must be readable.
unsafe fn read_at<T: Copy>(base: *const c_void, offset: usize) -> T {
    // SAFETY: the number is readable, by this function's contract.
    unsafe { base.cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}
