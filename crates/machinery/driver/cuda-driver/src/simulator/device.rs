//! Device management: enumeration and attributes.

use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{CudaError, Driver, capacity};
use cust_raw::{CUdevice, CUuuid};

use super::raw::{Out, c_str};
use super::{SIMULATOR, lock_driver};
use crate::backend::{Backend, select};
use crate::functions::cuDriverGetVersion;
use crate::status::{CallResult, SUCCESS, Status};
use crate::types::CUdevprop;

/// The CUDA version that the simulator reports: 13.0.
pub const VERSION: c_int = 13000;

/// The UUID of simulated GPU 0. The others increment the last byte.
const UUID: &[u8; 16] = b"Warpbook sim GPU";

/// Returns all device ordinals.
pub fn all() -> std::ops::Range<CUdevice> {
    0..SIMULATOR.device_count.load(Ordering::Relaxed) as CUdevice
}

/// Returns a device's number, or [`CudaError::InvalidDevice`].
pub fn check_device(device: CUdevice) -> Result<u32, CudaError> {
    match all().contains(&device) {
        true => Ok(device as u32),
        false => Err(CudaError::InvalidDevice),
    }
}

/// Returns a simulated device's PCI bus ID: domain, bus, device and function. The device attributes match it.
pub fn device_bus_id(device: u32) -> String {
    format!("0000:{device:02x}:00.0")
}

/// Returns a device's UUID.
pub fn device_uuid(device: u32) -> [u8; 16] {
    let mut bytes = *UUID;
    bytes[15] += device as u8;
    bytes
}

/// Returns free and total memory of a device, in bytes: from the simulator if it has started in this process,
/// otherwise for a device with `count` GPUs of model `spec`.
pub fn device_memory(spec: &DeviceSpec, count: u32, device: u32) -> (u64, u64) {
    let simulated = lock_driver()
        .ok()
        .and_then(|driver| driver.device_memory(device).ok());
    let total = capacity(spec, count);
    simulated.unwrap_or((total, total))
}

/// The attributes that differ between devices: PCI bus ID and multi-GPU board group ID.
const PER_DEVICE: [c_int; 2] = [33, 85];

/// Returns an attribute of a device.
fn attribute_of(driver: &Driver, attribute: c_int, device: CUdevice) -> Result<c_int, CudaError> {
    match PER_DEVICE.contains(&attribute) {
        true => Ok(device),
        false => driver.device_attribute(attribute),
    }
}

/// `cuDriverGetVersion`.
pub unsafe fn driver_version(version: *mut c_int) -> CallResult {
    // SAFETY: `version` is null or writable, as `cuDriverGetVersion` requires of its caller.
    let version_out = unsafe { Out::new(version) }?;
    match select()? {
        Backend::Simulator => version_out.set(VERSION),
        Backend::Gpu => {
            // SAFETY: `version` is not null, so it is writable; NVIDIA's driver has the same contract and is
            // in the slot by now.
            let code = unsafe { cuDriverGetVersion(version) };
            if code != SUCCESS {
                return Err(Status(code));
            }
        }
    }
    Ok(())
}

/// `cuDeviceGet`.
pub unsafe fn get(device: *mut CUdevice, ordinal: c_int) -> CallResult {
    // SAFETY: `device` is null or writable, as `cuDeviceGet` requires of its caller.
    let device = unsafe { Out::new(device) }?;
    check_device(ordinal)?;
    device.set(ordinal);
    Ok(())
}

/// `cuDeviceGetCount`.
pub unsafe fn count(count: *mut c_int) -> CallResult {
    // SAFETY: `count` is null or writable, as `cuDeviceGetCount` requires of its caller.
    unsafe { Out::new(count) }?.set(all().end);
    Ok(())
}

/// `cuDeviceGetName`.
pub unsafe fn name(name: *mut c_char, length: c_int, device: CUdevice) -> CallResult {
    check_device(device)?;
    let driver = lock_driver()?;
    // SAFETY: `name` is null or has room for `length` bytes, as `cuDeviceGetName` requires of its caller.
    unsafe { write_text(name, length, driver.device().name) }
}

/// Writes a text and a NUL, truncated to `length` bytes.
///
/// # Safety
/// `to` must be null or have room for `length` bytes.
unsafe fn write_text(to: *mut c_char, length: c_int, text: &str) -> CallResult {
    if to.is_null() || length < 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let copied = text.len().min(length as usize - 1);
    // SAFETY: `to` is not null and has room for `length` bytes; `copied` bytes and the NUL are no more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), copied);
        to.add(copied).write(0);
    }
    Ok(())
}

/// `cuDeviceGetUuid`.
pub unsafe fn uuid(uuid: *mut CUuuid, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `uuid` is null or writable, as `cuDeviceGetUuid` requires of its caller.
    let uuid = unsafe { Out::new(uuid) }?;
    let bytes = device_uuid(device).map(|byte| byte as c_char);
    uuid.set(CUuuid { bytes });
    Ok(())
}

/// `cuDeviceTotalMem`.
pub unsafe fn total_memory(bytes: *mut usize, device: CUdevice) -> CallResult {
    check_device(device)?;
    // SAFETY: `bytes` is null or writable, as `cuDeviceTotalMem` requires of its caller.
    unsafe { Out::new(bytes) }?.set(lock_driver()?.total_memory() as usize);
    Ok(())
}

/// `cuDeviceGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, device: CUdevice) -> CallResult {
    check_device(device)?;
    // SAFETY: `value` is null or writable, as `cuDeviceGetAttribute` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let driver = lock_driver()?;
    value.set(attribute_of(&driver, attribute, device)?);
    Ok(())
}

/// `cuDeviceGetProperties`, the predecessor of device attributes.
pub unsafe fn properties(properties: *mut CUdevprop, device: CUdevice) -> CallResult {
    check_device(device)?;
    // SAFETY: `properties` is null or writable, as `cuDeviceGetProperties` requires of its caller.
    let properties = unsafe { Out::new(properties) }?;
    let driver = lock_driver()?;
    let mut numbers = [0; PROPERTY_ATTRIBUTES.len()];
    for (to, number) in numbers.iter_mut().zip(PROPERTY_ATTRIBUTES) {
        *to = attribute_of(&driver, number, device)?;
    }
    properties.set(CUdevprop(numbers));
    Ok(())
}

/// The attributes in [`CUdevprop`], in order: threads per block, in total and by dimension; blocks per grid
/// by dimension; shared and constant memory; warp size; pitch; registers; clock rate; texture alignment.
const PROPERTY_ATTRIBUTES: [c_int; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

/// `cuDeviceGetPCIBusId`.
pub unsafe fn bus_id(text: *mut c_char, length: c_int, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `text` is null or has room for `length` bytes, as `cuDeviceGetPCIBusId` requires of its caller.
    unsafe { write_text(text, length, &device_bus_id(device)) }
}

/// `cuDeviceGetByPCIBusId`: accepts IDs with and without the domain and the function.
pub unsafe fn by_bus_id(device: *mut CUdevice, bus_id: *const c_char) -> CallResult {
    // SAFETY: `device` is null or writable and `bus_id` null or a NUL-terminated string, as
    // `cuDeviceGetByPCIBusId` requires of its caller.
    let (device, requested) = unsafe { (Out::new(device)?, c_str(bus_id)?) };
    let requested = requested.to_lowercase();
    let matches = |candidate: &CUdevice| {
        let full = device_bus_id(*candidate as u32);
        let (_, within_domain) = full.split_once(':').unwrap_or_default();
        let without_function = within_domain.strip_suffix(".0").unwrap_or_default();
        [&full, within_domain, without_function].contains(&requested.as_str())
    };
    device.set(all().find(matches).ok_or(CudaError::InvalidDevice)?);
    Ok(())
}

/// `cuDeviceGetExecAffinitySupport`: execution affinity is not supported.
pub unsafe fn affinity_support(supported: *mut c_int, kind: c_int, device: CUdevice) -> CallResult {
    check_device(device)?;
    // SAFETY: `supported` is null or writable, as `cuDeviceGetExecAffinitySupport` requires of its caller.
    let supported = unsafe { Out::new(supported) }?;
    if kind != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    supported.set(0);
    Ok(())
}

/// `cuDeviceGetP2PAttribute`: for two different devices. All pairs of devices are equal: they support access,
/// atomics and arrays, or nothing if peer access is not possible.
pub unsafe fn peer_attribute(
    value: *mut c_int,
    attribute: c_int,
    from: CUdevice,
    to: CUdevice,
) -> CallResult {
    // SAFETY: `value` is null or writable, as `cuDeviceGetP2PAttribute` requires of its caller.
    let value = unsafe { Out::new(value) }?;
    let accessible = can_access(from, to)?;
    // Values of `CUdevice_P2PAttribute`: performance rank, which is the same for all links; access, atomics
    // and array access; only partial atomics.
    let result = match attribute {
        1 | 5 => false,
        2..=4 => accessible,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    if from == to {
        return Err(CudaError::InvalidDevice.into());
    }
    value.set(result.into());
    Ok(())
}

/// `cuDeviceComputeCapability`.
pub unsafe fn compute_capability(
    major: *mut c_int,
    minor: *mut c_int,
    device: CUdevice,
) -> CallResult {
    check_device(device)?;
    // SAFETY: `major` and `minor` are null or writable, as `cuDeviceComputeCapability` requires of its caller.
    let (major, minor) = unsafe { (Out::new(major)?, Out::new(minor)?) };
    let capability = lock_driver()?.device().compute_capability;
    major.set(capability.0 as c_int);
    minor.set(capability.1 as c_int);
    Ok(())
}

/// `cuDeviceCanAccessPeer`.
pub unsafe fn can_access_peer(
    accessible: *mut c_int,
    device: CUdevice,
    peer: CUdevice,
) -> CallResult {
    // SAFETY: `accessible` is null or writable, as `cuDeviceCanAccessPeer` requires of its caller.
    let accessible = unsafe { Out::new(accessible) }?;
    accessible.set(can_access(device, peer)?.into());
    Ok(())
}

/// Returns true if kernels of `device` can access the memory of `peer`.
fn can_access(device: CUdevice, peer: CUdevice) -> Result<bool, CudaError> {
    lock_driver()?.can_access_peer(check_device(device)?, check_device(peer)?)
}
