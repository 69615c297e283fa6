//! Dynamic shared memory beyond 48 KB, and the number of blocks that are resident with it.

use anyhow::{Context as _, Result, ensure};
use common::error::check;
use cust::device::{Device, DeviceAttribute};
use cust::function::{BlockSize, Function};
use cust::sys;

/// Returns the bytes of shared memory that a block may have on this device if it opts in to more than the
/// default 48 KB.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn shared_limit(device: &Device) -> Result<u32> {
    let attribute =
        sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: `bytes` is a valid, writable integer for the attribute's value.
    check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes.try_into()?)
}

/// Allows launches of `kernel` to use `bytes` bytes of dynamic shared memory per block, in addition to the
/// kernel's static shared memory. A GPU requires this call for more than 48 KB. (cust 0.3.2 does not wrap
/// it.)
///
/// # Errors
///
/// Fails if the device has less.
pub fn allow_shared(kernel: &Function<'_>, bytes: u32) -> Result<()> {
    let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: `kernel` borrows its module, so its handle is valid; the call changes only this attribute.
    let status = unsafe { sys::cuFuncSetAttribute(kernel.to_raw(), attribute, value) };
    check(status).with_context(|| {
        format!("cannot use {bytes} bytes of shared memory per block: the device has less")
    })
}

/// Returns the number of blocks of `kernel` that are resident on the GPU at once, each with `shared` bytes of
/// dynamic shared memory, which must have been [allowed](allow_shared).
///
/// # Errors
///
/// Fails if not even one block fits, or CUDA reports an error.
pub fn resident_blocks(
    device: &Device,
    kernel: &Function<'_>,
    block: BlockSize,
    shared: u32,
) -> Result<u32> {
    let resident = kernel.max_active_blocks_per_multiprocessor(block, shared as usize)?;
    ensure!(resident > 0, "no block fits on a streaming multiprocessor");
    let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?;
    Ok(resident * u32::try_from(multiprocessors)?)
}
