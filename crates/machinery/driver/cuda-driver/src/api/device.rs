//! Device management: enumeration and attributes.

use std::ffi::{c_char, c_int, c_uint};

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{CudaError, Driver, capacity};

use super::SIMULATOR;
use crate::arguments::{Out, required};
use crate::simulator::require_current;
use crate::status::CallResult;
use crate::types::{CUdevice, CUdevprop, CUuuid};

/// The CUDA version that the simulator reports: 13.0.
pub const VERSION: c_int = 13000;

/// The version of NVIDIA's driver that the simulator reports: CUDA 13.0 came with the 580 series.
pub const DRIVER: &str = "580.00";

/// The UUID of simulated GPU 0. The others increment the last byte.
const UUID: &[u8; 16] = b"Warpbook sim GPU";

/// Returns all device ordinals.
pub fn all() -> std::ops::Range<CUdevice> {
    0..SIMULATOR.device_count() as CUdevice
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

fn device_uuid(device: u32) -> [u8; 16] {
    let mut bytes = *UUID;
    bytes[15] += device as u8;
    bytes
}

/// Returns a device's UUID in the format of NVML and nvidia-smi.
pub fn device_uuid_text(device: u32) -> String {
    let hex = device_uuid(device)
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    format!("GPU-{}", parts.join("-"))
}

/// Returns free and total memory of a device, in bytes: from the simulator if it has started in this process,
/// otherwise for a device with `count` GPUs of model `spec`.
pub fn device_memory(spec: &DeviceSpec, count: u32, device: u32) -> (u64, u64) {
    let simulated = SIMULATOR
        .lock_driver()
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

/// `cuDeviceGet`.
pub fn get(device: Out<CUdevice>, ordinal: c_int) -> CallResult {
    check_device(ordinal)?;
    device.set(ordinal);
    Ok(())
}

/// `cuDeviceGetCount`.
pub fn count(count: Out<c_int>) -> CallResult {
    count.set(all().end);
    Ok(())
}

/// `cuDeviceGetName`.
pub fn name(name: Option<Out<c_char>>, length: c_int, device: CUdevice) -> CallResult {
    check_device(device)?;
    let driver = SIMULATOR.lock_driver()?;
    // SAFETY: `name` has room for `length` bytes, as `cuDeviceGetName` requires of its caller.
    unsafe { write_text(name, length, driver.device().name) }?;
    Ok(())
}

/// Writes a text and a NUL, truncated to `length` bytes. Returns true if the text was not truncated.
///
/// # Safety
/// `to` must have room for `length` bytes.
unsafe fn write_text(
    to: Option<Out<c_char>>,
    length: c_int,
    text: &str,
) -> Result<bool, CudaError> {
    let to = required(to)?;
    if length < 1 {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `to` has room for `length` bytes, by this function's contract.
    unsafe { to.set_text(length as usize, text.as_bytes()) };
    Ok(text.len() < length as usize)
}

/// `cuDeviceGetUuid`.
pub fn uuid(uuid: Option<Out<CUuuid>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let uuid = required(uuid)?;
    let bytes = device_uuid(device).map(|byte| byte as c_char);
    uuid.set(CUuuid { bytes });
    Ok(())
}

/// `cuDeviceTotalMem`.
pub fn total_memory(bytes: Option<Out<usize>>, device: CUdevice) -> CallResult {
    check_device(device)?;
    required(bytes)?.set(SIMULATOR.lock_driver()?.total_memory() as usize);
    Ok(())
}

/// `cuDeviceGetAttribute`.
pub fn attribute(value: Option<Out<c_int>>, attribute: c_int, device: CUdevice) -> CallResult {
    check_device(device)?;
    let value = required(value)?;
    let driver = SIMULATOR.lock_driver()?;
    value.set(attribute_of(&driver, attribute, device)?);
    Ok(())
}

/// `cuDeviceGetProperties`, the predecessor of device attributes.
pub fn properties(properties: Option<Out<CUdevprop>>, device: CUdevice) -> CallResult {
    check_device(device)?;
    let properties = required(properties)?;
    let driver = SIMULATOR.lock_driver()?;
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

/// `cuDeviceGetPCIBusId`: writes a truncated ID too, but then returns [`CudaError::InvalidValue`].
pub fn bus_id(text: Option<Out<c_char>>, length: c_int, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    // SAFETY: `text` has room for `length` bytes, as `cuDeviceGetPCIBusId` requires of its caller.
    match unsafe { write_text(text, length, &device_bus_id(device)) }? {
        true => Ok(()),
        false => Err(CudaError::InvalidValue.into()),
    }
}

/// Returns true if `id` has the form of a PCI bus ID: two or three hexadecimal numbers separated by colons, the
/// last of which may have a function (`.0`).
fn is_bus_id(id: &str) -> bool {
    let (address, function) = id.split_once('.').unwrap_or((id, "0"));
    let mut numbers = address.split(':').chain([function]);
    let colons = address.matches(':').count();
    let is_complete = colons == 2 || colons == 1 && id.contains('.');
    is_complete && numbers.all(|number| u32::from_str_radix(number, 16).is_ok())
}

/// `cuDeviceGetByPCIBusId`: accepts IDs with and without the domain and the function.
pub fn by_bus_id(device: Out<CUdevice>, bus_id: &str) -> CallResult {
    let requested = bus_id.to_lowercase();
    let matches = |candidate: &CUdevice| {
        let full = device_bus_id(*candidate as u32);
        let (_, within_domain) = full.split_once(':').unwrap_or_default();
        let without_function = within_domain.strip_suffix(".0").unwrap_or_default();
        [&full, within_domain, without_function].contains(&requested.as_str())
    };
    match all().find(matches) {
        Some(found) => device.set(found),
        None if is_bus_id(&requested) => return Err(CudaError::InvalidDevice.into()),
        None => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuDeviceGetExecAffinitySupport`: execution affinity is not supported.
pub fn affinity_support(
    supported: Option<Out<c_int>>,
    kind: c_int,
    device: CUdevice,
) -> CallResult {
    check_device(device)?;
    let supported = required(supported)?;
    if !(0..=1).contains(&kind) {
        return Err(CudaError::InvalidValue.into());
    }
    supported.set(0);
    Ok(())
}

/// `cuDeviceGetP2PAttribute`: for two different devices. All pairs of devices are equal: they support access,
/// atomics and arrays, or nothing if peer access is not possible.
pub fn peer_attribute(
    value: Out<c_int>,
    attribute: c_int,
    from: CUdevice,
    to: CUdevice,
) -> CallResult {
    let accessible = can_access(from, to)?;
    if from == to {
        return Err(CudaError::InvalidDevice.into());
    }
    // Values of `CUdevice_P2PAttribute`: performance rank, which is the same for all links; access, atomics
    // and array access; only partial atomics.
    let result = match attribute {
        1 | 5 => false,
        2..=4 => accessible,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    value.set(result.into());
    Ok(())
}

/// `cuDeviceGetLuid`: only Windows identifies devices by a LUID.
pub fn luid(_luid: *mut c_char, _node_mask: *mut c_uint, device: CUdevice) -> CallResult {
    check_device(device)?;
    Err(CudaError::NotSupported.into())
}

/// `cuFlushGPUDirectRDMAWrites`: no other device writes to the memory of simulated devices.
pub fn flush_remote_writes(target: c_int, scope: c_int) -> CallResult {
    /// `CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX`.
    const CURRENT_CONTEXT: c_int = 0;
    /// `CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER` and `…_TO_ALL_DEVICES`.
    const SCOPES: [c_int; 2] = [100, 200];
    require_current()?;
    if target != CURRENT_CONTEXT || !SCOPES.contains(&scope) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}

/// `cuDeviceComputeCapability`.
pub fn compute_capability(
    major: Option<Out<c_int>>,
    minor: Option<Out<c_int>>,
    device: CUdevice,
) -> CallResult {
    check_device(device)?;
    let major = required(major)?;
    let minor = required(minor)?;
    let capability = SIMULATOR.lock_driver()?.device().compute_capability;
    major.set(capability.0 as c_int);
    minor.set(capability.1 as c_int);
    Ok(())
}

/// `cuDeviceCanAccessPeer`.
pub fn can_access_peer(accessible: Out<c_int>, device: CUdevice, peer: CUdevice) -> CallResult {
    accessible.set(can_access(device, peer)?.into());
    Ok(())
}

/// Returns true if kernels of `device` can access the memory of `peer`.
fn can_access(device: CUdevice, peer: CUdevice) -> Result<bool, CudaError> {
    SIMULATOR
        .lock_driver()?
        .can_access_peer(check_device(device)?, check_device(peer)?)
}
