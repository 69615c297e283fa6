//! The device: what there is and what it can do.

use std::ffi::{c_char, c_int};

use cuda_sim::driver::CudaError;
use cust_raw::{CUdevice, CUuuid};

use super::driver;
use super::raw::Out;
use crate::functions::cuDriverGetVersion;
use crate::start::{Backend, chosen};
use crate::status::{Answer, SUCCESS, Status};

/// The CUDA version the simulator answers as: 13.0.
const VERSION: c_int = 13000;

/// The sixteen bytes that tell the simulated GPU from others.
const UUID: &[u8; 16] = b"Warpbook sim GPU";

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
    if name.is_null() || length < 1 {
        return Err(CudaError::InvalidValue.into());
    }
    let text = driver()?.device().name.as_bytes();
    let kept = text.len().min(length as usize - 1);
    // SAFETY: `length` bytes are the caller's to write to; the text and its NUL are no more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), kept);
        name.add(kept).write(0);
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
    unsafe { Out::new(bytes) }?.set(driver()?.total_memory() as usize);
    Ok(())
}

/// `cuDeviceGetAttribute`.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let value = unsafe { Out::new(value) }?;
    value.set(driver()?.device_attribute(attribute)?);
    Ok(())
}

/// `cuDeviceComputeCapability`.
pub unsafe fn compute_capability(major: *mut c_int, minor: *mut c_int, device: CUdevice) -> Answer {
    check_device(device)?;
    // SAFETY: the caller's promise.
    let (major, minor) = unsafe { (Out::new(major)?, Out::new(minor)?) };
    let capability = driver()?.device().compute_capability;
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
