//! Devices and primary contexts: driver initialization, and the device and context of each thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::functions as cu;
use cuda_driver::types::{CUcontext, CUdevice};
use parking_lot::Mutex;

use crate::errors::{Code, Error, Result, check};

/// All devices, queried at the first call, or the error with which the driver failed to initialize.
static DEVICES: OnceLock<Result<Vec<Device>>> = OnceLock::new();

/// A device and the state of its primary context.
pub struct Device {
    /// The driver's handle of the device.
    pub handle: CUdevice,
    /// The primary context, once it has been created.
    primary: Mutex<Option<Context>>,
    /// The number of resets, counted from 1. A thread that bound its context before a reset must bind it
    /// again.
    generation: AtomicU32,
}

/// A context's handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Context(pub CUcontext);

// SAFETY: a context handle is not tied to a thread; the driver accepts it from any of them.
unsafe impl Send for Context {}
// SAFETY: sharing a `Context` only shares the handle's value, which is immutable.
unsafe impl Sync for Context {}

/// The calling thread's device selection.
#[derive(Clone, Copy)]
struct ThreadDevice {
    /// The device selected by `cudaSetDevice`, or 0.
    device: usize,
    /// The device's generation when this thread made its context current; 0 before that.
    bound_generation: u32,
}

thread_local! {
    static THREAD_DEVICE: Cell<ThreadDevice> = const { Cell::new(ThreadDevice { device: 0, bound_generation: 0 }) };
}

/// Returns all devices. The first call initializes the driver.
pub fn devices() -> Result<&'static [Device]> {
    let devices = DEVICES.get_or_init(|| {
        cuda_driver::detect_forks();
        query_devices()
    });
    devices.as_deref().map_err(|error| *error)
}

fn query_devices() -> Result<Vec<Device>> {
    let mut count = 0;
    // SAFETY: `cuInit` may be called at any time, and `count` is writable.
    unsafe {
        check(cu::cuInit(0))?;
        check(cu::cuDeviceGetCount(&mut count))?;
    }
    let device = |ordinal: c_int| {
        let mut handle = 0;
        // SAFETY: `handle` is writable; the driver validates `ordinal`.
        check(unsafe { cu::cuDeviceGet(&mut handle, ordinal) })?;
        Ok(Device {
            handle,
            primary: Mutex::new(None),
            generation: AtomicU32::new(1),
        })
    };
    (0..count).map(device).collect()
}

/// Returns the device with this ordinal, or `cudaErrorInvalidDevice`.
pub fn device(ordinal: c_int) -> Result<&'static Device> {
    let index = usize::try_from(ordinal).ok();
    let devices = devices()?;
    index
        .and_then(|ordinal| devices.get(ordinal))
        .ok_or(Error::INVALID_DEVICE)
}

/// Returns the ordinal of the calling thread's device.
pub fn current_device() -> Result<c_int> {
    let devices = devices()?;
    let mut handle = 0;
    // SAFETY: `handle` is writable; without a current context the call fails and leaves it unused.
    if unsafe { cu::cuCtxGetDevice(&mut handle) } == 0
        && let Some(ordinal) = devices.iter().position(|device| device.handle == handle)
    {
        return Ok(ordinal as c_int);
    }
    Ok(THREAD_DEVICE.get().device as c_int)
}

/// Returns the calling thread's context: the current one if the program has set it with the driver API,
/// otherwise the primary context of its device, which is created on first use.
pub fn context() -> Result<Context> {
    let devices = devices()?;
    let thread_device = THREAD_DEVICE.get();
    let mut current = null_mut();
    // SAFETY: `current` is writable.
    check(unsafe { cu::cuCtxGetCurrent(&mut current) })?;
    let generation = devices.get(thread_device.device).map(Device::generation);
    if !current.is_null()
        && (thread_device.bound_generation == 0
            || Some(thread_device.bound_generation) == generation)
    {
        return Ok(Context(current));
    }
    bind(thread_device.device)
}

/// Selects the calling thread's device and makes its primary context current (`cudaSetDevice`).
pub fn set_device(ordinal: c_int) -> Result {
    device(ordinal)?;
    bind(ordinal as usize)?;
    Ok(())
}

/// Makes a device's primary context current in the calling thread, and creates it if necessary.
fn bind(ordinal: usize) -> Result<Context> {
    let device = devices()?.get(ordinal).ok_or(Error(NO_DEVICE))?;
    let mut primary = device.primary.lock();
    let context = match *primary {
        Some(context) => context,
        None => {
            let mut context = null_mut();
            // SAFETY: `context` is writable, and `device.handle` comes from `cuDeviceGet`.
            check(unsafe { cu::cuDevicePrimaryCtxRetain(&mut context, device.handle) })?;
            *primary.insert(Context(context))
        }
    };
    // SAFETY: the context stays retained until `reset`.
    check(unsafe { cu::cuCtxSetCurrent(context.0) })?;
    THREAD_DEVICE.set(ThreadDevice {
        device: ordinal,
        bound_generation: device.generation(),
    });
    Ok(context)
}

/// `cudaErrorNoDevice`.
const NO_DEVICE: Code = 100;

/// Destroys the primary context of the calling thread's device (`cudaDeviceReset`), after passing it to
/// `before_reset`. The next call creates a new one.
pub fn reset(before_reset: impl FnOnce(Context)) -> Result {
    let device = device(current_device()?)?;
    let mut primary = device.primary.lock();
    let Some(context) = primary.take() else {
        return Ok(());
    };
    before_reset(context);
    device.generation.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `before_reset` dropped everything that belongs to the context, which `bind` retained once.
    unsafe {
        let reset = cu::cuDevicePrimaryCtxReset_v2(device.handle);
        // Some drivers count a context that was reset as released, so the result of the release is ignored.
        cu::cuDevicePrimaryCtxRelease_v2(device.handle);
        cu::cuCtxSetCurrent(null_mut());
        check(reset)
    }
}

impl Device {
    fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }
}
