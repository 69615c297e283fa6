//! The devices: which there are and what they can do.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{CudaError, Driver, capacity};
use cust_raw::{CUdevice, CUuuid};

use super::machine;
use super::raw::{Out, text};
use crate::functions::cuDriverGetVersion;
use crate::start::{Backend, chosen};
use crate::status::{Answer, SUCCESS, Status};
use crate::types::CUdevprop;

/// The CUDA version the simulator answers as: 13.0.
pub const VERSION: c_int = 13000;

/// The sixteen bytes that tell the first simulated GPU from others. Those after it count the last one up.
const UUID: &[u8; 16] = b"Warpbook sim GPU";

/// How many devices there are, from when the simulator was chosen.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// Says how many devices there are.
pub fn set_count(count: u32) {
    COUNT.store(count, Ordering::Relaxed);
}

/// All devices.
pub fn all() -> std::ops::Range<CUdevice> {
    0..COUNT.load(Ordering::Relaxed) as CUdevice
}

/// A device's number, or [`CudaError::InvalidDevice`].
pub fn check_device(device: CUdevice) -> Result<u32, CudaError> {
    match all().contains(&device) {
        true => Ok(device as u32),
        false => Err(CudaError::InvalidDevice),
    }
}

/// Where a simulated device would be on the PCI bus: domain, bus, device and function. The attributes say the same numbers.
pub fn device_bus_id(device: u32) -> String {
    format!("0000:{device:02x}:00.0")
}

/// The sixteen bytes that tell a device from others.
pub fn device_uuid(device: u32) -> [u8; 16] {
    let mut bytes = *UUID;
    bytes[15] += device as u8;
    bytes
}

/// Free and total memory of a device, in bytes: of the machine where it is switched on in this process, or of one that
/// has `count` of `spec`.
pub fn device_memory(spec: &DeviceSpec, count: u32, device: u32) -> (u64, u64) {
    let known = machine()
        .ok()
        .and_then(|driver| driver.device_memory(device).ok());
    let total = capacity(spec, count);
    known.unwrap_or((total, total))
}

/// The attributes that devices differ in: the number of the bus, and that of the board.
const NUMBERED: [c_int; 2] = [33, 85];

/// An attribute of a device.
fn attribute_of(driver: &Driver, attribute: c_int, device: CUdevice) -> Result<c_int, CudaError> {
    match NUMBERED.contains(&attribute) {
        true => Ok(device),
        false => driver.device_attribute(attribute),
    }
}

/// `cuDriverGetVersion`.
pub unsafe fn driver_version(version: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let version_out = unsafe { Out::new(version) }?;
    match chosen()? {
        Backend::Simulator => version_out.set(VERSION),
        Backend::Gpu => {
            // SAFETY: by now NVIDIA's driver answers this call; the caller's promise is its.
            let code = unsafe { cuDriverGetVersion(version) };
            if code != SUCCESS {
                return Err(Status(code));
            }
        }
    }
    Ok(())
}

/// `cuDeviceGet`.
pub unsafe fn get(device: *mut CUdevice, ordinal: c_int) -> Answer {
    // SAFETY: the caller's promise.
    let device = unsafe { Out::new(device) }?;
    check_device(ordinal)?;
    device.set(ordinal);
    Ok(())
}

/// `cuDeviceGetCount`.
pub unsafe fn count(count: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { Out::new(count) }?.set(all().end);
    Ok(())
}

/// `cuDeviceGetName`.
pub unsafe fn name(name: *mut c_char, length: c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    let driver = machine()?;
    // SAFETY: the caller's promise.
    unsafe { write_text(name, length, driver.device().name) }
}

/// Writes as much of a text as there is room for, and a NUL.
///
/// # Safety
/// `to` must be null or have room for `length` bytes.
unsafe fn write_text(to: *mut c_char, length: c_int, text: &str) -> Answer {
    if to.is_null() || length < 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let kept = text.len().min(length as usize - 1);
    // SAFETY: `length` bytes are the caller's to write to; the text and its NUL are no more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), kept);
        to.add(kept).write(0);
    }
    Ok(())
}

/// `cuDeviceGetUuid`.
pub unsafe fn uuid(uuid: *mut CUuuid, device: CUdevice) -> Answer {
    let device = check_device(device)?;
    // SAFETY: the caller's promise.
    let uuid = unsafe { Out::new(uuid) }?;
    let bytes = device_uuid(device).map(|byte| byte as c_char);
    uuid.set(CUuuid { bytes });
    Ok(())
}

/// `cuDeviceTotalMem`.
pub unsafe fn total_memory(bytes: *mut usize, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    unsafe { Out::new(bytes) }?.set(machine()?.total_memory() as usize);
    Ok(())
}

/// `cuDeviceGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    let driver = machine()?;
    value.set(attribute_of(&driver, attribute, device)?);
    Ok(())
}

/// `cuDeviceGetProperties`, as it was before there were attributes.
pub unsafe fn properties(properties: *mut CUdevprop, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let properties = unsafe { Out::new(properties) }?;
    let driver = machine()?;
    let mut numbers = [0; NUMBERS.len()];
    for (to, number) in numbers.iter_mut().zip(NUMBERS) {
        *to = attribute_of(&driver, number, device)?;
    }
    properties.set(CUdevprop(numbers));
    Ok(())
}

/// The attributes that [`CUdevprop`] has, in its order: threads of a block, in all and by dimension; blocks of a grid
/// by dimension; shared and constant memory; threads of a warp; pitch; registers; clock; alignment of textures.
const NUMBERS: [c_int; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

/// `cuDeviceGetPCIBusId`.
pub unsafe fn bus_id(text: *mut c_char, length: c_int, device: CUdevice) -> Answer {
    let device = check_device(device)?;
    // SAFETY: the caller's promise.
    unsafe { write_text(text, length, &device_bus_id(device)) }
}

/// `cuDeviceGetByPCIBusId`: with or without the numbers of the domain and of the function.
pub unsafe fn by_bus_id(device: *mut CUdevice, bus_id: *const c_char) -> Answer {
    // SAFETY: the caller's promise.
    let (device, asked) = unsafe { (Out::new(device)?, text(bus_id)?) };
    let asked = asked.to_lowercase();
    let is_there = |candidate: &CUdevice| {
        let whole = device_bus_id(*candidate as u32);
        let (_, within_domain) = whole.split_once(':').unwrap_or_default();
        let short = within_domain.strip_suffix(".0").unwrap_or_default();
        [&whole, within_domain, short].contains(&asked.as_str())
    };
    device.set(all().find(is_there).ok_or(CudaError::InvalidDevice)?);
    Ok(())
}

/// `cuDeviceGetExecAffinitySupport`: a context's work cannot be kept to some multiprocessors.
pub unsafe fn affinity_support(supported: *mut c_int, kind: c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let supported = unsafe { Out::new(supported) }?;
    if kind != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    supported.set(0);
    Ok(())
}

/// `cuDeviceGetP2PAttribute`: it takes two devices. Between all of them everything is the same: access, atomics
/// and arrays, or nothing where a device cannot reach another's memory.
pub unsafe fn peer_attribute(
    value: *mut c_int,
    attribute: c_int,
    from: CUdevice,
    to: CUdevice,
) -> Answer {
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    let can = can_reach(from, to)?;
    // The numbers of `CUdevice_P2PAttribute`: the rank of the link, of which there is one kind; access, atomics and
    // arrays; and whether only some atomics are done.
    let found = match attribute {
        1 | 5 => false,
        2..=4 => can,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    if from == to {
        return Err(CudaError::InvalidDevice.into());
    }
    value.set(found.into());
    Ok(())
}

/// `cuDeviceComputeCapability`.
pub unsafe fn compute_capability(major: *mut c_int, minor: *mut c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let (major, minor) = unsafe { (Out::new(major)?, Out::new(minor)?) };
    let capability = machine()?.device().compute_capability;
    major.set(capability.0 as c_int);
    minor.set(capability.1 as c_int);
    Ok(())
}

/// `cuDeviceCanAccessPeer`.
pub unsafe fn can_access_peer(can: *mut c_int, device: CUdevice, peer: CUdevice) -> Answer {
    // SAFETY: the caller's promise.
    let can = unsafe { Out::new(can) }?;
    can.set(can_reach(device, peer)?.into());
    Ok(())
}

/// Whether kernels of a device can be let into the memory of another one.
fn can_reach(device: CUdevice, peer: CUdevice) -> Result<bool, CudaError> {
    machine()?.can_access_peer(check_device(device)?, check_device(peer)?)
}
