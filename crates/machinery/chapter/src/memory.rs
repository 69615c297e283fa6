//! The check that an input fits into memory before anything is allocated.

use anyhow::{Result, bail};
use cust::memory::mem_get_info;
use sysinfo::{CGroupLimits, MemoryRefreshKind, RefreshKind, System};

use common::gpu::{Clock, Gpu};

/// The memory that a chapter is about to allocate, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
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
/// Fails if it does not fit; the message says how much `what` needs and how much is free.
pub fn require(gpu: &Gpu, what: &str, need: Need) -> Result<()> {
    let (free, _total) = mem_get_info()?;
    refuse_beyond(what, need.device, free as u64, "GPU memory")?;

    let host = match gpu.info.time {
        Clock::Measured => need.host,
        Clock::Modelled => need.host.saturating_add(need.device),
    };
    if let Some(available) = host_memory() {
        refuse_beyond(what, host, available, "this computer's memory")?;
    }
    Ok(())
}

fn refuse_beyond(what: &str, needed: u64, free: u64, memory: &str) -> Result<()> {
    if needed > free {
        bail!(
            "{what} needs {} of {memory}, and {} is free",
            in_words(needed),
            in_words(free)
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
fn in_words(bytes: u64) -> String {
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
    fn what_fits_exactly_is_allowed() {
        assert!(refuse_beyond("the image", 64, 64, "GPU memory").is_ok());
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        let error =
            refuse_beyond("the image", 40_000_000_000, 999_900_000, "GPU memory").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the image needs 40.0 GB of GPU memory, and 999.9 MB is free"
        );
    }

    #[test]
    fn small_sizes_are_given_in_bytes() {
        assert_eq!(in_words(65_536), "65536 bytes");
    }

    #[test]
    fn this_computer_has_some_memory() {
        assert_ne!(host_memory(), Some(0));
    }
}
