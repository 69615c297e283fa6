//! Shared memory beyond what a kernel has of its own, and the blocks that run at once with it.

use anyhow::{Context as _, Result, ensure};
use common::error::check;
use cust::device::{Device, DeviceAttribute};
use cust::function::{BlockSize, Function};
use cust::sys;

/// Bytes of shared memory that a block can have on this device, where it asks for more than the
/// usual 48 KB as well.
///
/// # Errors
///
/// CUDA's own.
pub fn shared_limit(device: &Device) -> Result<u32> {
    let attribute =
        sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: `bytes` is a place to write to.
    check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes.try_into()?)
}

/// Lets launches of `kernel` ask for `bytes` of shared memory a block, beside what the kernel has
/// of its own. Beyond 48 KB a GPU wants to be told before. (cust 0.3.2 has no call for it.)
///
/// # Errors
///
/// Where the device has less.
pub fn allow_shared(kernel: &Function<'_>, bytes: u32) -> Result<()> {
    let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: the kernel's module is loaded; the call changes nothing but this attribute.
    let status = unsafe { sys::cuFuncSetAttribute(kernel.to_raw(), attribute, value) };
    check(status).with_context(|| {
        format!("cannot have {bytes} bytes of shared memory a block: the device has less")
    })
}

/// As many blocks of a kernel as the GPU runs at once, each with `shared` bytes of shared memory
/// beside the kernel's own, which it has been [allowed](allow_shared).
///
/// # Errors
///
/// Where not one block fits, and CUDA's own.
pub fn at_once(
    device: &Device,
    kernel: &Function<'_>,
    block: BlockSize,
    shared: u32,
) -> Result<u32> {
    let resident = kernel.max_active_blocks_per_multiprocessor(block, shared as usize)?;
    ensure!(resident > 0, "a multiprocessor has no room for a block");
    let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?;
    Ok(resident * u32::try_from(multiprocessors)?)
}
