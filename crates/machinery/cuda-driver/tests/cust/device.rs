//! The device, and the names of errors.

use std::ffi::CStr;
use std::ptr;

use cust::context::CurrentContext;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::sys;

use super::{Test, simulator};

#[test]
fn the_device_says_what_it_is() -> Test {
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
    // SAFETY: a null pointer is refused.
    let null = unsafe { sys::cuDeviceGetCount(ptr::null_mut()) };
    assert_eq!(null, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    Ok(())
}

#[test]
fn errors_have_names() {
    let _context = simulator();
    let mut name = ptr::null();
    // SAFETY: a string that lasts is written to `name`.
    let name = unsafe {
        sys::cuGetErrorName(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, &mut name);
        CStr::from_ptr(name)
    };
    assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    // cust puts quotes round what `cuGetErrorString` says.
    assert_eq!(CudaError::OutOfMemory.to_string(), "\"out of memory\"");
}
