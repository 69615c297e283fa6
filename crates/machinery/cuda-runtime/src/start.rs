//! The first call: the driver is initialised, and the thread's device gets its primary context.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuda_driver::functions as cu;
use cust_raw::{CUcontext, CUdevice};

use crate::fork;
use crate::status::{Answer, Code, Error, driver};

/// All devices, from the first call on; the driver's error where it cannot be used.
static DEVICES: OnceLock<Result<Vec<Device>, Error>> = OnceLock::new();

/// What is kept of a device.
pub struct Device {
    /// The driver's number for it.
    pub handle: CUdevice,
    /// The primary context, once it is made.
    primary: Mutex<Option<Context>>,
    /// How often the device was reset, counted from 1: a thread that has bound its context before a reset
    /// has to do so again.
    life: AtomicU32,
}

/// A context's handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Context(pub CUcontext);

// SAFETY: a handle is a number that the driver gave; any thread may use it.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// What a thread has chosen.
#[derive(Clone, Copy)]
struct Chosen {
    /// The device that `cudaSetDevice` named, or 0.
    device: usize,
    /// The life of the device in which its context was made this thread's; 0 before.
    bound: u32,
}

thread_local! {
    static CHOSEN: Cell<Chosen> = const { Cell::new(Chosen { device: 0, bound: 0 }) };
}

/// All devices. The first call initialises the driver.
pub fn devices() -> Answer<&'static [Device]> {
    let devices = DEVICES.get_or_init(|| {
        fork::watch();
        find_devices()
    });
    devices.as_deref().map_err(|error| *error)
}

fn find_devices() -> Answer<Vec<Device>> {
    let mut count = 0;
    // SAFETY: the driver may be initialised at any time; then it writes one number.
    unsafe {
        driver(cu::cuInit(0))?;
        driver(cu::cuDeviceGetCount(&mut count))?;
    }
    let device = |ordinal: c_int| {
        let mut handle = 0;
        // SAFETY: the driver writes one number.
        driver(unsafe { cu::cuDeviceGet(&mut handle, ordinal) })?;
        Ok(Device {
            handle,
            primary: Mutex::new(None),
            life: AtomicU32::new(1),
        })
    };
    (0..count).map(device).collect()
}

/// The device with a number, or `cudaErrorInvalidDevice`.
pub fn device(ordinal: c_int) -> Answer<&'static Device> {
    let found = usize::try_from(ordinal).ok();
    let devices = devices()?;
    found
        .and_then(|ordinal| devices.get(ordinal))
        .ok_or(Error::INVALID_DEVICE)
}

/// The number of the calling thread's device.
pub fn current_device() -> Answer<c_int> {
    let devices = devices()?;
    let mut handle = 0;
    // SAFETY: the driver writes one number, where a context is current.
    if unsafe { cu::cuCtxGetDevice(&mut handle) } == 0
        && let Some(found) = devices.iter().position(|device| device.handle == handle)
    {
        return Ok(found as c_int);
    }
    Ok(CHOSEN.get().device as c_int)
}

/// The calling thread's context: the one that is current, where the program has made it so with the
/// driver API, or else the primary one of its device, which is made if need be.
pub fn context() -> Answer<Context> {
    let devices = devices()?;
    let chosen = CHOSEN.get();
    let mut current = null_mut();
    // SAFETY: the driver writes one handle.
    driver(unsafe { cu::cuCtxGetCurrent(&mut current) })?;
    let life = devices.get(chosen.device).map(Device::life);
    if !current.is_null() && (chosen.bound == 0 || Some(chosen.bound) == life) {
        return Ok(Context(current));
    }
    bind(chosen.device)
}

/// `cudaSetDevice`.
pub fn set_device(ordinal: c_int) -> Answer {
    device(ordinal)?;
    bind(ordinal as usize)?;
    Ok(())
}

/// Makes the primary context of a device the calling thread's.
fn bind(ordinal: usize) -> Answer<Context> {
    let device = devices()?.get(ordinal).ok_or(Error(NO_DEVICE))?;
    let mut primary = device.primary();
    let context = match *primary {
        Some(context) => context,
        None => {
            let mut made = null_mut();
            // SAFETY: the driver writes one handle.
            driver(unsafe { cu::cuDevicePrimaryCtxRetain(&mut made, device.handle) })?;
            *primary.insert(Context(made))
        }
    };
    // SAFETY: the context is retained.
    driver(unsafe { cu::cuCtxSetCurrent(context.0) })?;
    CHOSEN.set(Chosen {
        device: ordinal,
        bound: device.life(),
    });
    Ok(context)
}

/// `cudaErrorNoDevice`.
const NO_DEVICE: Code = 100;

/// `cudaDeviceReset`: ends the primary context of the calling thread's device, after `forget` was told
/// which one. The next call makes it again.
pub fn reset(forget: impl FnOnce(Context)) -> Answer {
    let device = device(current_device()?)?;
    let mut primary = device.primary();
    let Some(context) = primary.take() else {
        return Ok(());
    };
    forget(context);
    device.life.fetch_add(1, Ordering::Relaxed);
    // SAFETY: nothing of the context is kept here any more. It was retained once.
    unsafe {
        let reset = cu::cuDevicePrimaryCtxReset_v2(device.handle);
        // Some drivers count a context that was reset as released.
        cu::cuDevicePrimaryCtxRelease_v2(device.handle);
        cu::cuCtxSetCurrent(null_mut());
        driver(reset)
    }
}

impl Device {
    fn life(&self) -> u32 {
        self.life.load(Ordering::Relaxed)
    }

    fn primary(&self) -> std::sync::MutexGuard<'_, Option<Context>> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
