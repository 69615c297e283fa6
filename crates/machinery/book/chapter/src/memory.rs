//! The check that an input fits into memory before anything is allocated.

use anyhow::{Result, bail};
use cust::memory::mem_get_info;
use sysinfo::{CGroupLimits, MemoryRefreshKind, RefreshKind, System};

use common::gpu::{Clock, Gpu};

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
