//! The machine the simulator runs on.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// What to assume of a platform that does not say.
const UNKNOWN: u64 = 8 << 30;

/// Bytes of memory this process may use: the machine's, or its control group's where that is less.
pub(super) fn memory() -> u64 {
    if cfg!(miri) {
        return UNKNOWN;
    }
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(wanted) else {
        return UNKNOWN;
    };
    let total = match system.total_memory() {
        0 => UNKNOWN,
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
        assert!(super::memory() > 64 << 20);
    }
}
