//! The GPUs that NVML tells of, and the pointers that it is called with.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuda_driver::device::DeviceSpec;
use cuda_driver::{say, simulated};

use super::status::{Answer, Error};

/// A device's handle: its number and 1. It is never followed.
pub type Handle = *mut c_void;

/// The machine's devices: so many of one kind.
#[derive(Clone, Copy)]
pub struct Machine {
    pub device: &'static DeviceSpec,
    pub count: u32,
}

/// How often NVML was initialised and not shut down.
static USERS: Mutex<u32> = Mutex::new(0);

/// The devices, once they were asked for; none where the environment names what there is not.
static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();

/// One more user of NVML.
pub fn begin() -> Answer {
    let found = MACHINE.get_or_init(|| {
        let (device, count) = simulated().ok()?;
        Some(Machine { device, count })
    });
    found.ok_or(Error::DriverNotLoaded)?;
    *users() += 1;
    Ok(())
}

/// One user less.
pub fn end() -> Answer {
    let mut users = users();
    *users = users.checked_sub(1).ok_or(Error::Uninitialized)?;
    Ok(())
}

fn users() -> std::sync::MutexGuard<'static, u32> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The devices, while somebody uses NVML.
pub fn machine() -> Result<Machine, Error> {
    if *users() == 0 {
        return Err(Error::Uninitialized);
    }
    MACHINE.get().copied().flatten().ok_or(Error::Uninitialized)
}

impl Machine {
    /// The number of the device that a handle stands for.
    pub fn number(self, handle: Handle) -> Result<u32, Error> {
        let number = u32::try_from(handle.addr()).ok();
        let number = number.and_then(|number| number.checked_sub(1));
        let number = number.filter(|number| *number < self.count);
        number.ok_or(Error::InvalidArgument)
    }
}

/// The handle of a device.
pub fn handle(number: u32) -> Handle {
    std::ptr::without_provenance_mut(number as usize + 1)
}

/// The device that a handle stands for, and the machine.
pub fn device(handle: Handle) -> Result<(Machine, u32), Error> {
    let machine = machine()?;
    Ok((machine, machine.number(handle)?))
}

/// What is not known of a simulated device. The first time it is asked for, this is said.
pub fn unknown(function: &'static str, handle: Handle) -> Answer {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    device(handle)?;
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(function) {
        say(format_args!(
            "{function} is not supported: a simulated GPU has no such thing"
        ));
    }
    Err(Error::NotSupported)
}

/// Writes a result.
///
/// # Safety
/// `to` must be null or writable.
pub unsafe fn set<T>(to: *mut T, value: T) -> Answer {
    if to.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: not null, so writable by the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// Writes a text and a NUL, if there is room for all of it.
///
/// # Safety
/// `to` must be null or have room for `length` bytes.
pub unsafe fn set_text(to: *mut c_char, length: c_uint, text: &str) -> Answer {
    if to.is_null() {
        return Err(Error::InvalidArgument);
    }
    if length as usize <= text.len() {
        return Err(Error::InsufficientSize);
    }
    // SAFETY: so many bytes are the caller's to write to, which are more than the text.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// A C string as text.
///
/// # Safety
/// `text` must be null or a string that ends in NUL and outlives the result.
pub unsafe fn read_text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::InvalidArgument)
}

/// An array of a structure with a text in it, as long as C has it.
pub fn array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    for (to, byte) in array.iter_mut().zip(text.bytes().take(N - 1)) {
        *to = byte as c_char;
    }
    array
}

/// The number of the `nvmlClockType_t` as the clock that it names, in MHz.
pub fn clock(device: &DeviceSpec, kind: c_int) -> Result<c_uint, Error> {
    match kind {
        // Graphics and multiprocessors have one clock.
        0 | 1 => Ok(device.clock_khz / 1000),
        2 => Ok(device.memory_clock_khz / 1000),
        3 => Err(Error::NotSupported),
        _ => Err(Error::InvalidArgument),
    }
}
