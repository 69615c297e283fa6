//! How much memory the machine has that the simulator runs on.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Bytes of memory that a machine is taken to have where the system does not say.
const ASSUMED_BYTES: u64 = 8 << 30;

/// Bytes of memory that this process may use: those of the machine, or of the process's control group
/// (a container's limit) where that has fewer.
pub(super) fn host_memory() -> u64 {
    if cfg!(miri) {
        return ASSUMED_BYTES;
    }
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(wanted) else {
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
    fn a_host_has_memory() {
        assert!(super::host_memory() > 64 << 20);
    }
}
