//! Device properties and error names.

use std::ffi::CStr;
use std::ptr;

use cust::context::CurrentContext;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;

use super::support::INVALID_VALUE;
use super::{Test, simulator};

#[test]
fn device_properties_are_reported() -> Test {
    let _context = simulator();
    assert_eq!(
        cuda_driver::backend(),
        Some(cuda_driver::Backend::Simulator)
    );
    let device = CurrentContext::get_device()?;
    assert_eq!(device.name()?, "NVIDIA H200 (simulated)");
    assert_eq!(device.get_attribute(DeviceAttribute::WarpSize)?, 32);
    assert_eq!(
        device.get_attribute(DeviceAttribute::MultiprocessorCount)?,
        132
    );
    assert_eq!(Device::num_devices()?, 1);
    assert_eq!(Device::get_device(1), Err(CudaError::InvalidDevice));
    assert!(device.total_memory()? > 0);
    calls! { cuDeviceGetCount(ptr::null_mut()) => INVALID_VALUE; }
    Ok(())
}

#[test]
fn errors_have_names() {
    let _context = simulator();
    let mut name = ptr::null();
    calls! { cuGetErrorName(700, &mut name); }
    // SAFETY: the names are static strings.
    let name = unsafe { CStr::from_ptr(name) };
    assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    // cust puts quotation marks around the text from `cuGetErrorString`.
    assert_eq!(CudaError::OutOfMemory.to_string(), "\"out of memory\"");
}
