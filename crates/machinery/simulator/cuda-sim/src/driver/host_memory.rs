//! The amount of memory of the host machine.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The assumed host memory in bytes if the system does not report it.
const ASSUMED_BYTES: u64 = 8 << 30;

/// Returns the bytes of memory that this process may use: those of the machine, or the limit of the process's
/// control group (container) if that is lower.
pub(super) fn host_memory() -> u64 {
    if cfg!(miri) {
        return ASSUMED_BYTES;
    }
    let refresh = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(refresh) else {
        return ASSUMED_BYTES;
    };
    let total = match system.total_memory() {
        0 => ASSUMED_BYTES,
        total => total,
    };
    match system.cgroup_limits() {
        Some(group) if group.total_memory > 0 => total.min(group.total_memory),
        _ => total,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn host_memory_is_plausible() {
        assert!(super::host_memory() > 64 << 20);
    }
}
