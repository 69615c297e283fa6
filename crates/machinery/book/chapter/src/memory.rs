//! Memory limits: the check that an input fits into memory before anything is allocated, and dynamic shared memory
//! beyond 48 KB.

use anyhow::{Context as _, Result, bail, ensure};
use common::error::check;
use common::gpu::{Clock, Gpu};
use cust::device::{Device, DeviceAttribute};
use cust::function::{BlockSize, Function};
use cust::memory::mem_get_info;
use cust::sys;
use sysinfo::{CGroupLimits, MemoryRefreshKind, RefreshKind, System};

/// The memory that a chapter is about to allocate, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of GPU memory.
    pub device: u64,
    /// Bytes of host memory.
    pub host: u64,
}

/// Refuses an input that does not fit into the memory that is free now.
///
/// Host memory is checked too, because an operating system may promise more memory than it has and kill the
/// program later. On the simulator, GPU memory is host memory.
///
/// # Errors
///
/// Fails if it does not fit; the message states how much `purpose` needs and how much is free.
pub fn require(gpu: &Gpu, purpose: &str, footprint: Footprint) -> Result<()> {
    let (free, _total) = mem_get_info()?;
    require_fits(purpose, footprint.device, free as u64, "GPU memory")?;

    let host = match gpu.info.time {
        Clock::Measured => footprint.host,
        Clock::Modelled => footprint.host.saturating_add(footprint.device),
    };
    if let Some(available) = host_memory() {
        require_fits(purpose, host, available, "host memory")?;
    }
    Ok(())
}

fn require_fits(purpose: &str, needed: u64, free: u64, memory: &str) -> Result<()> {
    if needed > free {
        bail!(
            "{purpose} needs {} of {memory}, but only {} is free",
            format_bytes(needed),
            format_bytes(free)
        );
    }
    Ok(())
}

/// Returns the available host memory in bytes, or the part of it that the container may still use if that is
/// less. `None` if the system does not report it.
fn host_memory() -> Option<u64> {
    let ram = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(ram).ok()?;
    let available = system.available_memory();
    // The page cache counts as used memory of a container, but the kernel reclaims it when needed.
    let left = |limits: CGroupLimits| limits.total_memory.saturating_sub(limits.rss);
    let left = system.cgroup_limits().map_or(available, left);
    Some(available.min(left))
}

/// Formats `bytes` in a readable unit, such as `40.0 GB`.
fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{bytes} bytes"),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_fit_is_allowed() {
        assert!(require_fits("the image", 64, 64, "GPU memory").is_ok());
    }

    #[test]
    fn an_input_that_does_not_fit_is_rejected_with_both_sizes() {
        let error =
            require_fits("the image", 40_000_000_000, 999_900_000, "GPU memory").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the image needs 40.0 GB of GPU memory, but only 999.9 MB is free"
        );
    }

    #[test]
    fn small_sizes_are_given_in_bytes() {
        assert_eq!(format_bytes(65_536), "65536 bytes");
    }

    #[test]
    fn available_host_memory_is_not_zero() {
        assert_ne!(host_memory(), Some(0));
    }
}
