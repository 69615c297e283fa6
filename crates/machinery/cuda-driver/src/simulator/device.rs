//! The device: what there is and what it can do.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;
use cust_raw::{CUdevice, CUuuid};

use super::machine;
use super::raw::{Out, text};
use crate::functions::cuDriverGetVersion;
use crate::start::{Backend, chosen};
use crate::status::{Answer, SUCCESS, Status};
use crate::types::CUdevprop;

/// The CUDA version the simulator answers as: 13.0.
pub const VERSION: c_int = 13000;

/// The sixteen bytes that tell the simulated GPU from others.
const UUID: &[u8; 16] = b"Warpbook sim GPU";

/// Where the simulated device would be: no PCI bus has one there. The attributes say the same numbers.
const BUS_ID: &str = "0000:00:00.0";

/// Refuses every device but 0, which is the only one.
pub fn check_device(device: CUdevice) -> Result<(), CudaError> {
    match device {
        0 => Ok(()),
        _ => Err(CudaError::InvalidDevice),
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
    unsafe { Out::new(count) }?.set(1);
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
    check_device(device)?;
    // SAFETY: the caller's promise.
    unsafe { Out::new(uuid) }?.set(CUuuid {
        bytes: UUID.map(|byte| byte as c_char),
    });
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
    value.set(machine()?.device_attribute(attribute)?);
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
        *to = driver.device_attribute(number)?;
    }
    properties.set(CUdevprop(numbers));
    Ok(())
}

/// The attributes that [`CUdevprop`] has, in its order: threads of a block, in all and by dimension; blocks of a grid
/// by dimension; shared and constant memory; threads of a warp; pitch; registers; clock; alignment of textures.
const NUMBERS: [c_int; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

/// `cuDeviceGetPCIBusId`.
pub unsafe fn bus_id(text: *mut c_char, length: c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    unsafe { write_text(text, length, BUS_ID) }
}

/// `cuDeviceGetByPCIBusId`: with or without the numbers of the domain and of the function.
pub unsafe fn by_bus_id(device: *mut CUdevice, bus_id: *const c_char) -> Answer {
    // SAFETY: the caller's promise.
    let (device, asked) = unsafe { (Out::new(device)?, text(bus_id)?) };
    let (_, within_domain) = BUS_ID.split_once(':').unwrap_or_default();
    if ![BUS_ID, within_domain, within_domain.trim_end_matches(".0")].contains(&asked) {
        return Err(CudaError::InvalidDevice.into());
    }
    device.set(0);
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

/// `cuDeviceGetP2PAttribute`: it takes two devices.
pub unsafe fn peer_attribute(
    value: *mut c_int,
    attribute: c_int,
    from: CUdevice,
    to: CUdevice,
) -> Answer {
    /// The numbers of `CUdevice_P2PAttribute`.
    const ATTRIBUTES: std::ops::RangeInclusive<c_int> = 1..=5;
    // SAFETY: the caller's promise.
    unsafe { Out::new(value) }?;
    check_device(from)?;
    check_device(to)?;
    if !ATTRIBUTES.contains(&attribute) {
        return Err(CudaError::InvalidValue.into());
    }
    Err(CudaError::InvalidDevice.into())
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

/// `cuDeviceCanAccessPeer`: no. There is no second device, and a device is not its own peer.
pub unsafe fn can_access_peer(can: *mut c_int, device: CUdevice, peer: CUdevice) -> Answer {
    check_device(device)?;
    check_device(peer)?;
    // SAFETY: the caller's promise.
    unsafe { Out::new(can) }?.set(0);
    Ok(())
}
