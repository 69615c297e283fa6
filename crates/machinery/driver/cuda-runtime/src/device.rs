//! Device enumeration, selection and settings.

use std::ffi::{CStr, c_char, c_int, c_uint};

use cuda_driver::functions as cu;

use crate::arrays::Format;
use crate::context::{self, context, current_device, device, devices};
use crate::errors::{Error, Result, check};
use crate::functions::{Out, clear_sticky_error, read};
use crate::launch::{self, ReportScope};
use crate::program;
use crate::properties::{DeviceProperties, attribute, device_properties};
use crate::types::ChannelFormat;

functions! {
    cudaGetDeviceCount(count: *mut c_int) => device_count;
    cudaGetDevice(device: *mut c_int) -> device = current_device();
    cudaSetDevice(device: c_int) = context::set_device(device);
    cudaInitDevice(device: c_int, device_flags: c_uint, flags: c_uint)
        = init(device, device_flags, flags);
    cudaSetValidDevices(list: *mut c_int, length: c_int) => set_valid;
    cudaChooseDevice(device: *mut c_int, properties: *const DeviceProperties)
        -> device = choose(&read(properties)?), unsafe;
    cudaDeviceSynchronize() = synchronize();
    cudaDeviceReset() = reset();
    cudaThreadSynchronize() = synchronize();
    cudaThreadExit() = reset();
    cudaDeviceGetLimit(value: *mut usize, limit: c_int) => cuCtxGetLimit(..);
    cudaDeviceSetLimit(limit: c_int, value: usize) => cuCtxSetLimit(..);
    cudaThreadGetLimit(value: *mut usize, limit: c_int) => cuCtxGetLimit(..);
    cudaThreadSetLimit(limit: c_int, value: usize) => cuCtxSetLimit(..);
    cudaDeviceGetCacheConfig(config: *mut c_int) => cuCtxGetCacheConfig(..);
    cudaDeviceSetCacheConfig(config: c_int) => cuCtxSetCacheConfig(..);
    cudaThreadGetCacheConfig(config: *mut c_int) => cuCtxGetCacheConfig(..);
    cudaThreadSetCacheConfig(config: c_int) => cuCtxSetCacheConfig(..);
    cudaDeviceGetSharedMemConfig(config: *mut c_int) => cuCtxGetSharedMemConfig(..);
    cudaDeviceSetSharedMemConfig(config: c_int) => cuCtxSetSharedMemConfig(..);
    cudaGetDeviceFlags(flags: *mut c_uint) -> flags = device_flags();
    cudaSetDeviceFlags(flags: c_uint) = set_flags(flags);
    cudaDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) => can_access_peer;
    cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) = enable_peer(peer, flags);
    cudaDeviceDisablePeerAccess(peer: c_int) = disable_peer(peer);
    cudaDeviceGetP2PAttribute(value: *mut c_int, attribute: c_int, from: c_int, to: c_int)
        => p2p_attribute;
    cudaDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) => pci_bus_id;
    cudaDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) => by_pci_bus_id;
    cudaDeviceGetTexture1DLinearMaxWidth(
        width: *mut usize, format: *const ChannelFormat, device: c_int,
    ) -> width = linear_texture_width(read(format)?, device), unsafe;
    cudaDriverGetVersion(version: *mut c_int) => cuDriverGetVersion(..), no_context;
    cudaRuntimeGetVersion(version: *mut c_int) -> version = Ok(VERSION);

    // No line of the L2 cache is ever persisting, and there is no profiler to control.
    cudaCtxResetPersistingL2Cache() = context().map(drop);
    cudaProfilerStart() = context().map(drop);
    cudaProfilerStop() = context().map(drop);
    cudaDeviceFlushGPUDirectRDMAWrites(target: c_int, scope: c_int);
}

/// `CUDART_VERSION`.
const VERSION: c_int = 12080;

/// `cudaGetDeviceCount`. Writes 0 and returns an error if there is no device.
unsafe fn device_count(to: *mut c_int) -> Result {
    // SAFETY: `cudaGetDeviceCount` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    let devices = devices();
    to.set(devices.map_or(0, <[_]>::len) as c_int);
    devices.map(|_| ())
}

/// `cudaInitDevice`: like `cudaSetDevice`, but without changing the thread's device.
fn init(ordinal: c_int, _device_flags: c_uint, flags: c_uint) -> Result {
    if flags != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let before = current_device()?;
    context::set_device(ordinal)?;
    context::set_device(before)
}

/// `cudaSetValidDevices`: the devices among which a thread without a choice may pick. Only validates the
/// list, because every thread starts with device 0.
unsafe fn set_valid(list: *mut c_int, length: c_int) -> Result {
    for i in 0..length.max(0) as usize {
        // SAFETY: `cudaSetValidDevices` requires `list` to hold `length` numbers.
        device(unsafe { read(list.wrapping_add(i)) }?)?;
    }
    Ok(())
}

/// `cudaChooseDevice`: the device that meets most of the caller's requirements.
fn choose(requested: &DeviceProperties) -> Result<c_int> {
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
    Ok((usize::MAX - best) as c_int)
}

/// `cudaDeviceSynchronize`.
fn synchronize() -> Result {
    context()?;
    // SAFETY: the calling thread has a current context, on which any thread may wait.
    let result = check(unsafe { cu::cuCtxSynchronize() });
    launch::report(ReportScope::Finished);
    result
}

/// `cudaDeviceReset`.
fn reset() -> Result {
    context::reset(|context| {
        launch::report(ReportScope::Context(context));
        program::forget_context(context);
    })?;
    clear_sticky_error();
    Ok(())
}

/// `cudaGetDeviceFlags`.
fn device_flags() -> Result<c_uint> {
    let device = device(current_device()?)?;
    let (mut flags, mut active) = (0, 0);
    // SAFETY: `flags` and `active` are writable, and `device.handle` comes from `cuDeviceGet`.
    check(unsafe { cu::cuDevicePrimaryCtxGetState(device.handle, &mut flags, &mut active) })?;
    // Mapped host memory is always enabled, and NVIDIA's runtime reports it.
    Ok(flags | MAP_HOST)
}

/// `cudaDeviceMapHost`, which the driver accepts and ignores.
const MAP_HOST: c_uint = 8;

/// `cudaSetDeviceFlags`.
fn set_flags(flags: c_uint) -> Result {
    /// Scheduling flags, `cudaDeviceMapHost` and `cudaDeviceLmemResizeToMax`.
    const VALID_FLAGS: c_uint = 0x1f;
    if flags & !VALID_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let device = device(current_device()?)?;
    // SAFETY: `device.handle` comes from `cuDeviceGet`; the driver validates `flags`.
    check(unsafe { cu::cuDevicePrimaryCtxSetFlags_v2(device.handle, flags) })
}

/// `cudaDeviceCanAccessPeer`.
unsafe fn can_access_peer(to: *mut c_int, ordinal: c_int, peer: c_int) -> Result {
    let (device, peer) = (device(ordinal)?, device(peer)?);
    // SAFETY: `cudaDeviceCanAccessPeer` has the same requirements for `to` as `cuDeviceCanAccessPeer`.
    check(unsafe { cu::cuDeviceCanAccessPeer(to, device.handle, peer.handle) })
}

/// `cudaDeviceEnablePeerAccess`.
fn enable_peer(peer: c_int, flags: c_uint) -> Result {
    let peer = peer_context(peer)?;
    // SAFETY: `peer` is a retained primary context.
    check(unsafe { cu::cuCtxEnablePeerAccess(peer.0, flags) })
}

/// `cudaDeviceDisablePeerAccess`.
fn disable_peer(peer: c_int) -> Result {
    let peer = peer_context(peer)?;
    // SAFETY: `peer` is a retained primary context.
    check(unsafe { cu::cuCtxDisablePeerAccess(peer.0) })
}

/// Returns the primary context of another device. Fails if `peer` is the calling thread's own device.
fn peer_context(peer: c_int) -> Result<context::Context> {
    context()?;
    let current = current_device()?;
    device(peer)?;
    if peer == current {
        return Err(Error::INVALID_DEVICE);
    }
    context::set_device(peer)?;
    let context = context();
    context::set_device(current)?;
    context
}

/// `cudaDeviceGetP2PAttribute`.
unsafe fn p2p_attribute(to: *mut c_int, attribute: c_int, from: c_int, other: c_int) -> Result {
    let (from, other) = (device(from)?.handle, device(other)?.handle);
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
unsafe fn pci_bus_id(to: *mut c_char, length: c_int, ordinal: c_int) -> Result {
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
unsafe fn by_pci_bus_id(to: *mut c_int, text: *const c_char) -> Result {
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

/// `cudaDeviceGetTexture1DLinearMaxWidth`.
fn linear_texture_width(format: ChannelFormat, ordinal: c_int) -> Result<usize> {
    const MAX_LINEAR_WIDTH: c_int = 69;
    Format::new(format)?;
    Ok(attribute(MAX_LINEAR_WIDTH, ordinal)? as usize)
}
