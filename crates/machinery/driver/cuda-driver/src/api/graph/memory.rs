//! The attributes of memory that graph nodes allocate.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::CUdevice;

use crate::api::SIMULATOR;
use crate::api::device::check_device;
use crate::arguments::{In, Out, required};
use crate::status::CallResult;

/// Values of `CUgraphMem_attribute`.
const USED_CURRENT: c_int = 0;
const USED_HIGH: c_int = 1;
const RESERVED_CURRENT: c_int = 2;
const RESERVED_HIGH: c_int = 3;

/// `cuDeviceGetGraphMemAttribute`.
pub fn attribute(device: CUdevice, attribute: c_int, value: Option<Out<c_void>>) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    let driver = SIMULATOR.lock_driver_drained()?;
    let bytes = match attribute {
        // Freed memory is not cached, so the reserved bytes are the used bytes.
        USED_CURRENT | RESERVED_CURRENT => SIMULATOR.graph_memory.used(&driver, device),
        USED_HIGH | RESERVED_HIGH => SIMULATOR.graph_memory.peak(device),
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: all these attributes are 64-bit numbers.
    unsafe { value.set_as::<u64>(bytes) };
    Ok(())
}

/// `cuDeviceSetGraphMemAttribute`: a peak can only be reset.
pub fn set_attribute(device: CUdevice, attribute: c_int, value: Option<In<c_void>>) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    if !matches!(attribute, USED_HIGH | RESERVED_HIGH) {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: all these attributes are 64-bit numbers.
    if unsafe { value.read_as::<u64>() } != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = SIMULATOR.lock_driver_drained()?;
    SIMULATOR.graph_memory.reset_peak(&driver, device);
    Ok(())
}

/// `cuDeviceGraphMemTrim`: a no-op, because freed memory is not cached.
pub fn trim(device: CUdevice) -> CallResult {
    check_device(device)?;
    Ok(())
}
