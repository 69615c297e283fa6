//! The GPUs that NVML reports, and the conversion of pointers from C.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuda_driver::device::DeviceSpec;
use cuda_driver::{configured_devices, warn};

use super::status::{CallResult, Error};

/// A device's handle: its number plus 1. It is never dereferenced.
pub type Handle = *mut c_void;

/// The devices of the machine: `count` GPUs of one model.
#[derive(Clone, Copy)]
pub struct Machine {
    pub device: &'static DeviceSpec,
    pub count: u32,
}

/// Number of `nvmlInit` calls without a matching `nvmlShutdown`.
static INIT_COUNT: Mutex<u32> = Mutex::new(0);

/// The devices, initialized by the first `nvmlInit`; `None` if the environment is invalid.
static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();

/// Initializes NVML, or increments its reference count.
pub fn init() -> CallResult {
    let machine = MACHINE.get_or_init(|| {
        let (device, count) = configured_devices().ok()?;
        Some(Machine { device, count })
    });
    machine.ok_or(Error::DriverNotLoaded)?;
    *init_count() += 1;
    Ok(())
}

/// Decrements the reference count of NVML.
pub fn shutdown() -> CallResult {
    let mut init_count = init_count();
    *init_count = init_count.checked_sub(1).ok_or(Error::Uninitialized)?;
    Ok(())
}

fn init_count() -> std::sync::MutexGuard<'static, u32> {
    INIT_COUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the devices, or [`Error::Uninitialized`] if NVML is not initialized.
pub fn machine() -> Result<Machine, Error> {
    if *init_count() == 0 {
        return Err(Error::Uninitialized);
    }
    MACHINE.get().copied().flatten().ok_or(Error::Uninitialized)
}

impl Machine {
    /// Returns the number of the device of a handle.
    pub fn number(self, handle: Handle) -> Result<u32, Error> {
        let number = u32::try_from(handle.addr()).ok();
        let number = number.and_then(|number| number.checked_sub(1));
        let number = number.filter(|number| *number < self.count);
        number.ok_or(Error::InvalidArgument)
    }
}

/// Returns the handle of a device.
pub fn handle(number: u32) -> Handle {
    std::ptr::without_provenance_mut(number as usize + 1)
}

/// Returns the machine and the device number of a handle.
pub fn device(handle: Handle) -> Result<(Machine, u32), Error> {
    let machine = machine()?;
    Ok((machine, machine.number(handle)?))
}

/// Returns the error for a property that a simulated device does not have. Prints a message once per function.
pub fn unavailable(function: &'static str, handle: Handle) -> CallResult {
    static REPORTED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    device(handle)?;
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if reported.insert(function) {
        warn(format_args!(
            "{function} is not supported: simulated GPUs do not have this property"
        ));
    }
    Err(Error::NotSupported)
}

/// Writes a result. Returns [`Error::InvalidArgument`] for a null pointer.
///
/// # Safety
/// `out` must be null or writable.
pub unsafe fn write<T>(out: *mut T, value: T) -> CallResult {
    if out.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: `out` is not null, so it is writable by this function's contract.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a text and a NUL. Returns [`Error::InsufficientSize`] if `length` is too small.
///
/// # Safety
/// `out` must be null or have room for `length` bytes.
pub unsafe fn write_text(out: *mut c_char, length: c_uint, text: &str) -> CallResult {
    if out.is_null() {
        return Err(Error::InvalidArgument);
    }
    if length as usize <= text.len() {
        return Err(Error::InsufficientSize);
    }
    // SAFETY: `out` is not null and has room for `length` bytes, which is more than the text.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len());
        out.add(text.len()).write(0);
    }
    Ok(())
}

/// Converts a C string. Returns [`Error::InvalidArgument`] if it is null or not UTF-8.
///
/// # Safety
/// `text` must be null or a NUL-terminated string that outlives the result.
pub unsafe fn read_text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: `text` is not null, so it is a NUL-terminated string by this function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::InvalidArgument)
}

/// Returns a NUL-terminated C array with a text, truncated to the array's size.
pub fn c_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    for (out, byte) in array.iter_mut().zip(text.bytes().take(N - 1)) {
        *out = byte as c_char;
    }
    array
}

/// Returns the frequency in MHz of the clock with this `nvmlClockType_t`.
pub fn clock(device: &DeviceSpec, kind: c_int) -> Result<c_uint, Error> {
    match kind {
        // The graphics and the SM clock are the same.
        0 | 1 => Ok(device.clock_khz / 1000),
        2 => Ok(device.memory_clock_khz / 1000),
        3 => Err(Error::NotSupported),
        _ => Err(Error::InvalidArgument),
    }
}
