//! Device enumeration, selection and settings.

use std::ffi::{CStr, c_char, c_int, c_uint};

use cuda_driver::functions as cu;

use crate::arguments::{Out, read};
use crate::context::{self, context, current_device, device as device_by_ordinal, devices};
use crate::last_error::clear_sticky;
use crate::launch_timing::{self, ReportScope};
use crate::program;
use crate::properties::{DeviceProperties, attribute, device_properties};
use crate::status::{Error, Result, check};

/// `CUDART_VERSION`.
const VERSION: c_int = 12080;

/// `cudaGetDeviceCount`. Writes 0 and returns an error if there is no device.
pub unsafe fn count(to: *mut c_int) -> Result {
    // SAFETY: `cudaGetDeviceCount` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    let devices = devices();
    to.set(devices.map_or(0, <[_]>::len) as c_int);
    devices.map(|_| ())
}

/// `cudaGetDevice`.
pub unsafe fn get(to: *mut c_int) -> Result {
    // SAFETY: `cudaGetDevice` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(current_device()?);
    Ok(())
}

/// `cudaSetDevice`.
pub unsafe fn set(ordinal: c_int) -> Result {
    context::set_device(ordinal)
}

/// `cudaInitDevice`: like `cudaSetDevice`, but without changing the thread's device.
pub unsafe fn init(ordinal: c_int, _device_flags: c_uint, flags: c_uint) -> Result {
    if flags != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let before = current_device()?;
    context::set_device(ordinal)?;
    context::set_device(before)
}

/// `cudaSetValidDevices`: the devices among which a thread without a choice may pick. Only validates the
/// list, because every thread starts with device 0.
pub unsafe fn set_valid(list: *mut c_int, length: c_int) -> Result {
    for i in 0..length.max(0) as usize {
        // SAFETY: `cudaSetValidDevices` requires `list` to hold `length` numbers.
        device_by_ordinal(unsafe { read(list.wrapping_add(i)) }?)?;
    }
    Ok(())
}

/// `cudaChooseDevice`: the device that meets most of the caller's requirements.
pub unsafe fn choose(to: *mut c_int, requested: *const DeviceProperties) -> Result {
    // SAFETY: `cudaChooseDevice` requires `to` to be null or writable and `requested` to be null or readable.
    let (to, requested) = unsafe { (Out::new(to)?, read(requested)?) };
    let score = |ordinal: usize| -> Result<(usize, usize)> {
        let available = device_properties(ordinal as c_int)?;
        let satisfied = [
            available.major >= requested.major,
            (available.major, available.minor) >= (requested.major, requested.minor),
            available.totalGlobalMem >= requested.totalGlobalMem,
            available.sharedMemPerBlock >= requested.sharedMemPerBlock,
            available.regsPerBlock >= requested.regsPerBlock,
            available.multiProcessorCount >= requested.multiProcessorCount,
            available.maxThreadsPerBlock >= requested.maxThreadsPerBlock,
            available.clockRate >= requested.clockRate,
            available.totalConstMem >= requested.totalConstMem,
        ];
        let satisfied = satisfied.into_iter().filter(|satisfied| *satisfied).count();
        // Ties go to the lowest ordinal.
        Ok((satisfied, usize::MAX - ordinal))
    };
    let all = 0..devices()?.len();
    let rated = all.map(score).collect::<Result<Vec<_>>>()?;
    let (_, best) = rated.into_iter().max().ok_or(Error::INVALID_DEVICE)?;
    to.set((usize::MAX - best) as c_int);
    Ok(())
}

/// `cudaDeviceSynchronize`.
pub unsafe fn synchronize() -> Result {
    context()?;
    // SAFETY: the calling thread has a current context, on which any thread may wait.
    let result = check(unsafe { cu::cuCtxSynchronize() });
    launch_timing::report(ReportScope::Finished);
    result
}

/// `cudaDeviceReset`.
pub unsafe fn reset() -> Result {
    context::reset(|context| {
        launch_timing::report(ReportScope::Context(context));
        program::forget_context(context);
    })?;
    clear_sticky();
    Ok(())
}

/// `cudaDeviceGetLimit`.
pub unsafe fn limit(to: *mut usize, limit: c_int) -> Result {
    context()?;
    // SAFETY: `cudaDeviceGetLimit` has the same requirements for `to` as `cuCtxGetLimit`.
    check(unsafe { cu::cuCtxGetLimit(to, limit) })
}

/// `cudaDeviceSetLimit`.
pub unsafe fn set_limit(limit: c_int, value: usize) -> Result {
    context()?;
    // SAFETY: takes only numbers, which the driver validates.
    check(unsafe { cu::cuCtxSetLimit(limit, value) })
}

/// `cudaDeviceGetCacheConfig`.
pub unsafe fn cache_config(to: *mut c_int) -> Result {
    context()?;
    // SAFETY: `cudaDeviceGetCacheConfig` has the same requirements for `to` as `cuCtxGetCacheConfig`.
    check(unsafe { cu::cuCtxGetCacheConfig(to) })
}

/// `cudaDeviceSetCacheConfig`.
pub unsafe fn set_cache_config(config: c_int) -> Result {
    context()?;
    // SAFETY: takes only a number, which the driver validates.
    check(unsafe { cu::cuCtxSetCacheConfig(config) })
}

/// `cudaDeviceGetSharedMemConfig`.
pub unsafe fn shared_config(to: *mut c_int) -> Result {
    context()?;
    // SAFETY: `cudaDeviceGetSharedMemConfig` has the same requirements for `to` as `cuCtxGetSharedMemConfig`.
    check(unsafe { cu::cuCtxGetSharedMemConfig(to) })
}

/// `cudaDeviceSetSharedMemConfig`.
pub unsafe fn set_shared_config(config: c_int) -> Result {
    context()?;
    // SAFETY: takes only a number, which the driver validates.
    check(unsafe { cu::cuCtxSetSharedMemConfig(config) })
}

/// `cudaGetDeviceFlags`.
pub unsafe fn flags(to: *mut c_uint) -> Result {
    // SAFETY: `cudaGetDeviceFlags` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    let device = device_by_ordinal(current_device()?)?;
    let (mut flags, mut active) = (0, 0);
    // SAFETY: `flags` and `active` are writable, and `device.handle` comes from `cuDeviceGet`.
    check(unsafe { cu::cuDevicePrimaryCtxGetState(device.handle, &mut flags, &mut active) })?;
    // Mapped host memory is always enabled, and NVIDIA's runtime reports it.
    to.set(flags | MAP_HOST);
    Ok(())
}

/// `cudaDeviceMapHost`, which the driver accepts and ignores.
const MAP_HOST: c_uint = 8;

/// `cudaSetDeviceFlags`.
pub unsafe fn set_flags(flags: c_uint) -> Result {
    /// Scheduling flags, `cudaDeviceMapHost` and `cudaDeviceLmemResizeToMax`.
    const VALID_FLAGS: c_uint = 0x1f;
    if flags & !VALID_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let device = device_by_ordinal(current_device()?)?;
    // SAFETY: `device.handle` comes from `cuDeviceGet`; the driver validates `flags`.
    check(unsafe { cu::cuDevicePrimaryCtxSetFlags_v2(device.handle, flags) })
}

/// `cudaDeviceCanAccessPeer`.
pub unsafe fn can_access_peer(to: *mut c_int, ordinal: c_int, peer: c_int) -> Result {
    let (device, peer) = (device_by_ordinal(ordinal)?, device_by_ordinal(peer)?);
    // SAFETY: `cudaDeviceCanAccessPeer` has the same requirements for `to` as `cuDeviceCanAccessPeer`.
    check(unsafe { cu::cuDeviceCanAccessPeer(to, device.handle, peer.handle) })
}

/// `cudaDeviceEnablePeerAccess`.
pub unsafe fn enable_peer(peer: c_int, flags: c_uint) -> Result {
    let peer = peer_context(peer)?;
    // SAFETY: `peer` is a retained primary context.
    check(unsafe { cu::cuCtxEnablePeerAccess(peer.0, flags) })
}

/// `cudaDeviceDisablePeerAccess`.
pub unsafe fn disable_peer(peer: c_int) -> Result {
    let peer = peer_context(peer)?;
    // SAFETY: `peer` is a retained primary context.
    check(unsafe { cu::cuCtxDisablePeerAccess(peer.0) })
}

/// Returns the primary context of another device. Fails if `peer` is the calling thread's own device.
fn peer_context(peer: c_int) -> Result<context::Context> {
    context()?;
    let current = current_device()?;
    device_by_ordinal(peer)?;
    if peer == current {
        return Err(Error::INVALID_DEVICE);
    }
    context::set_device(peer)?;
    let context = context();
    context::set_device(current)?;
    context
}

/// `cudaDeviceGetP2PAttribute`.
pub unsafe fn p2p_attribute(to: *mut c_int, attribute: c_int, from: c_int, other: c_int) -> Result {
    let (from, other) = (
        device_by_ordinal(from)?.handle,
        device_by_ordinal(other)?.handle,
    );
    if from == other || !(1..=4).contains(&attribute) {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: `cudaDeviceGetP2PAttribute` has the same requirements for `to` as `cuDeviceGetP2PAttribute`.
    check(unsafe { cu::cuDeviceGetP2PAttribute(to, attribute, from, other) })
}

/// The numbers of `CUdevice_attribute` that give a device's PCI address.
const PCI_BUS: c_int = 33;
const PCI_DEVICE: c_int = 34;
const PCI_DOMAIN: c_int = 50;

/// `cudaDeviceGetPCIBusId`.
pub unsafe fn pci_bus_id(to: *mut c_char, length: c_int, ordinal: c_int) -> Result {
    let text = pci_address(ordinal)?;
    if to.is_null()
        || usize::try_from(length).is_ok_and(|capacity| capacity <= text.len())
        || length < 0
    {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: `to` is not null, and its `length` bytes exceed the text, which leaves room for the NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// `cudaDeviceGetByPCIBusId`.
pub unsafe fn by_pci_bus_id(to: *mut c_int, text: *const c_char) -> Result {
    // SAFETY: `cudaDeviceGetByPCIBusId` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    if text.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: `text` is not null, and `cudaDeviceGetByPCIBusId` requires a NUL-terminated string.
    let text = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .to_lowercase();
    for ordinal in 0..devices()?.len() as c_int {
        let pci_address = pci_address(ordinal)?;
        // The domain and the function are optional.
        let short = pci_address.trim_end_matches(".0");
        let matches =
            [&pci_address, short, &pci_address[5..], &short[5..]].contains(&text.as_str());
        if matches {
            to.set(ordinal);
            return Ok(());
        }
    }
    Err(Error::INVALID_DEVICE)
}

/// Formats a device's PCI address as domain, bus, device and function.
fn pci_address(ordinal: c_int) -> Result<String> {
    let [domain, bus, device] = [
        attribute(PCI_DOMAIN, ordinal)?,
        attribute(PCI_BUS, ordinal)?,
        attribute(PCI_DEVICE, ordinal)?,
    ];
    Ok(format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
}

/// `cudaDriverGetVersion`.
pub unsafe fn driver_version(to: *mut c_int) -> Result {
    // SAFETY: `cudaDriverGetVersion` has the same requirements for `to` as `cuDriverGetVersion`.
    check(unsafe { cu::cuDriverGetVersion(to) })
}

/// `cudaRuntimeGetVersion`.
pub unsafe fn runtime_version(to: *mut c_int) -> Result {
    // SAFETY: `cudaRuntimeGetVersion` requires `to` to be null or writable.
    unsafe { Out::new(to) }?.set(VERSION);
    Ok(())
}

/// `cudaProfilerStart` and `cudaProfilerStop`. There is no profiler to control, so they only create the
/// context.
pub unsafe fn profiler() -> Result {
    context()?;
    Ok(())
}

/// `cudaCtxResetPersistingL2Cache`. No line of the L2 cache is ever persisting, so there is nothing to reset.
pub unsafe fn reset_persisting_cache() -> Result {
    context()?;
    Ok(())
}

/// `cudaDeviceGetTexture1DLinearMaxWidth`.
pub unsafe fn linear_texture_width(
    to: *mut usize,
    format: *const crate::types::ChannelFormat,
    ordinal: c_int,
) -> Result {
    const MAX_LINEAR_WIDTH: c_int = 69;
    // SAFETY: `cudaDeviceGetTexture1DLinearMaxWidth` requires `to` to be null or writable and `format` to be
    // null or readable.
    let (to, format) = unsafe { (Out::new(to)?, read(format)?) };
    crate::arrays::Format::new(format)?;
    to.set(attribute(MAX_LINEAR_WIDTH, ordinal)? as usize);
    Ok(())
}
