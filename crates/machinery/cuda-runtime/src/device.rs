//! Devices: which there are, the one of a thread, and its settings.

use std::ffi::{CStr, c_char, c_int, c_uint};

use cuda_driver::functions as cu;

use crate::arguments::{Out, read};
use crate::last_error::forget_sticky;
use crate::program;
use crate::properties::{DeviceProperties, attribute, of};
use crate::start::{self, context, current_device, device as numbered, devices};
use crate::status::{Answer, Error, driver};
use crate::timing::{self, Which};

/// `CUDART_VERSION`.
const VERSION: c_int = 12080;

/// `cudaGetDeviceCount`: where there is none, 0 is written and the answer is an error.
pub unsafe fn count(to: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    let found = devices();
    to.set(found.map_or(0, <[_]>::len) as c_int);
    found.map(|_| ())
}

/// `cudaGetDevice`.
pub unsafe fn get(to: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(current_device()?);
    Ok(())
}

/// `cudaSetDevice`.
pub unsafe fn set(ordinal: c_int) -> Answer {
    start::set_device(ordinal)
}

/// `cudaInitDevice`: as `cudaSetDevice`, but the thread's device stays.
pub unsafe fn init(ordinal: c_int, _device_flags: c_uint, flags: c_uint) -> Answer {
    if flags != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let before = current_device()?;
    start::set_device(ordinal)?;
    start::set_device(before)
}

/// `cudaSetValidDevices`: which devices a thread may use that names none. All programs use the first.
pub unsafe fn set_valid(list: *mut c_int, length: c_int) -> Answer {
    for i in 0..length.max(0) as usize {
        // SAFETY: the caller promises as many numbers.
        numbered(unsafe { read(list.wrapping_add(i)) }?)?;
    }
    Ok(())
}

/// `cudaChooseDevice`: the device that meets most of what the caller asks for.
pub unsafe fn choose(to: *mut c_int, wanted: *const DeviceProperties) -> Answer {
    // SAFETY: the caller's promise.
    let (to, wanted) = unsafe { (Out::new(to)?, read(wanted)?) };
    let meets = |ordinal: usize| -> Answer<(usize, usize)> {
        let has = of(ordinal as c_int)?;
        let met = [
            has.major >= wanted.major,
            (has.major, has.minor) >= (wanted.major, wanted.minor),
            has.totalGlobalMem >= wanted.totalGlobalMem,
            has.sharedMemPerBlock >= wanted.sharedMemPerBlock,
            has.regsPerBlock >= wanted.regsPerBlock,
            has.multiProcessorCount >= wanted.multiProcessorCount,
            has.maxThreadsPerBlock >= wanted.maxThreadsPerBlock,
            has.clockRate >= wanted.clockRate,
            has.totalConstMem >= wanted.totalConstMem,
        ];
        let met = met.into_iter().filter(|met| *met).count();
        // Of those that meet as much, the first.
        Ok((met, usize::MAX - ordinal))
    };
    let all = 0..devices()?.len();
    let rated = all.map(meets).collect::<Answer<Vec<_>>>()?;
    let (_, best) = rated.into_iter().max().ok_or(Error::INVALID_DEVICE)?;
    to.set((usize::MAX - best) as c_int);
    Ok(())
}

/// `cudaDeviceSynchronize`.
pub unsafe fn synchronize() -> Answer {
    context()?;
    // SAFETY: any thread may wait.
    let result = driver(unsafe { cu::cuCtxSynchronize() });
    timing::tell(Which::Ended);
    result
}

/// `cudaDeviceReset`.
pub unsafe fn reset() -> Answer {
    start::reset(|context| {
        timing::tell(Which::Of(context));
        program::forget(context);
    })?;
    forget_sticky();
    Ok(())
}

/// `cudaDeviceGetLimit`.
pub unsafe fn limit(to: *mut usize, limit: c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuCtxGetLimit(to, limit) })
}

/// `cudaDeviceSetLimit`.
pub unsafe fn set_limit(limit: c_int, value: usize) -> Answer {
    context()?;
    // SAFETY: any numbers may be given.
    driver(unsafe { cu::cuCtxSetLimit(limit, value) })
}

/// `cudaDeviceGetCacheConfig`.
pub unsafe fn cache_config(to: *mut c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuCtxGetCacheConfig(to) })
}

/// `cudaDeviceSetCacheConfig`.
pub unsafe fn set_cache_config(config: c_int) -> Answer {
    context()?;
    // SAFETY: any number may be given.
    driver(unsafe { cu::cuCtxSetCacheConfig(config) })
}

/// `cudaDeviceGetSharedMemConfig`.
pub unsafe fn shared_config(to: *mut c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuCtxGetSharedMemConfig(to) })
}

/// `cudaDeviceSetSharedMemConfig`.
pub unsafe fn set_shared_config(config: c_int) -> Answer {
    context()?;
    // SAFETY: any number may be given.
    driver(unsafe { cu::cuCtxSetSharedMemConfig(config) })
}

/// `cudaGetDeviceFlags`.
pub unsafe fn flags(to: *mut c_uint) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    let device = numbered(current_device()?)?;
    let (mut flags, mut active) = (0, 0);
    // SAFETY: the driver writes two numbers.
    driver(unsafe { cu::cuDevicePrimaryCtxGetState(device.handle, &mut flags, &mut active) })?;
    // Host memory can be mapped in any case, and the runtime says so.
    to.set(flags | MAP_HOST);
    Ok(())
}

/// `cudaDeviceMapHost`, which the driver takes and does without.
const MAP_HOST: c_uint = 8;

/// `cudaSetDeviceFlags`.
pub unsafe fn set_flags(flags: c_uint) -> Answer {
    /// How to wait, mapped host memory, and local memory that is kept.
    const KNOWN: c_uint = 0x1f;
    if flags & !KNOWN != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let device = numbered(current_device()?)?;
    // SAFETY: any number may be given.
    driver(unsafe { cu::cuDevicePrimaryCtxSetFlags_v2(device.handle, flags) })
}

/// `cudaDeviceCanAccessPeer`.
pub unsafe fn can_access_peer(to: *mut c_int, ordinal: c_int, peer: c_int) -> Answer {
    let (device, peer) = (numbered(ordinal)?, numbered(peer)?);
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceCanAccessPeer(to, device.handle, peer.handle) })
}

/// `cudaDeviceEnablePeerAccess`.
pub unsafe fn enable_peer(peer: c_int, flags: c_uint) -> Answer {
    let peer = another(peer)?;
    // SAFETY: the context is one.
    driver(unsafe { cu::cuCtxEnablePeerAccess(peer.0, flags) })
}

/// `cudaDeviceDisablePeerAccess`.
pub unsafe fn disable_peer(peer: c_int) -> Answer {
    let peer = another(peer)?;
    // SAFETY: the context is one.
    driver(unsafe { cu::cuCtxDisablePeerAccess(peer.0) })
}

/// The context of a device that is not the thread's own, which is no peer.
fn another(peer: c_int) -> Answer<start::Context> {
    context()?;
    let own = current_device()?;
    numbered(peer)?;
    if peer == own {
        return Err(Error::INVALID_DEVICE);
    }
    start::set_device(peer)?;
    let found = context();
    start::set_device(own)?;
    found
}

/// `cudaDeviceGetP2PAttribute`.
pub unsafe fn between(to: *mut c_int, attribute: c_int, from: c_int, other: c_int) -> Answer {
    let (from, other) = (numbered(from)?.handle, numbered(other)?.handle);
    if from == other || !(1..=4).contains(&attribute) {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceGetP2PAttribute(to, attribute, from, other) })
}

/// The numbers of `CUdevice_attribute` that say where a device is.
const PCI_BUS: c_int = 33;
const PCI_DEVICE: c_int = 34;
const PCI_DOMAIN: c_int = 50;

/// `cudaDeviceGetPCIBusId`.
pub unsafe fn pci_bus_id(to: *mut c_char, length: c_int, ordinal: c_int) -> Answer {
    let text = place(ordinal)?;
    if to.is_null() || usize::try_from(length).is_ok_and(|room| room <= text.len()) || length < 0 {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: so many bytes are the caller's to write to, which are more than the text and a NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// `cudaDeviceGetByPCIBusId`.
pub unsafe fn by_pci_bus_id(to: *mut c_int, text: *const c_char) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    if text.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller promises a string.
    let text = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .to_lowercase();
    for ordinal in 0..devices()?.len() as c_int {
        let place = place(ordinal)?;
        // The domain and the function may be left out.
        let short = place.trim_end_matches(".0");
        let found = [&place, short, &place[5..], &short[5..]].contains(&text.as_str());
        if found {
            to.set(ordinal);
            return Ok(());
        }
    }
    Err(Error::INVALID_DEVICE)
}

/// Where a device is, in words: domain, bus, device and function.
fn place(ordinal: c_int) -> Answer<String> {
    let [domain, bus, device] = [
        attribute(PCI_DOMAIN, ordinal)?,
        attribute(PCI_BUS, ordinal)?,
        attribute(PCI_DEVICE, ordinal)?,
    ];
    Ok(format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
}

/// `cudaDriverGetVersion`.
pub unsafe fn driver_version(to: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDriverGetVersion(to) })
}

/// `cudaRuntimeGetVersion`.
pub unsafe fn runtime_version(to: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { Out::new(to) }?.set(VERSION);
    Ok(())
}

/// `cudaProfilerStart` and `cudaProfilerStop`: no profiler listens, so nothing is to be done.
pub unsafe fn profiler() -> Answer {
    context()?;
    Ok(())
}

/// `cudaCtxResetPersistingL2Cache`: nothing in the L2 cache is kept on purpose.
pub unsafe fn reset_persisting_cache() -> Answer {
    context()?;
    Ok(())
}

/// `cudaDeviceGetTexture1DLinearMaxWidth`.
pub unsafe fn linear_texture_width(
    to: *mut usize,
    format: *const crate::types::ChannelFormat,
    ordinal: c_int,
) -> Answer {
    const MAX_LINEAR_WIDTH: c_int = 69;
    // SAFETY: the caller's promise.
    let (to, format) = unsafe { (Out::new(to)?, read(format)?) };
    crate::arrays::Format::new(format)?;
    to.set(attribute(MAX_LINEAR_WIDTH, ordinal)? as usize);
    Ok(())
}
