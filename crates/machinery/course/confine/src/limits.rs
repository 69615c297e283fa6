//! Resource limits of a process, which its children inherit.

use crate::{Error, Rules};

/// Lowers this process's limits permanently, without other restrictions.
///
/// # Errors
///
/// Fails if the system does not lower a limit.
#[cfg(unix)]
pub fn lower(rules: &Rules) -> Result<(), Error> {
    use rlimit::Resource;

    let mut lowered = vec![
        (Resource::CPU, "CPU time", rules.cpu_seconds),
        (Resource::FSIZE, "the file size", rules.file),
        (Resource::CORE, "core dumps", 0),
    ];
    // macOS does not enforce a limit on memory.
    if let Some(memory) = rules.memory.filter(|_| cfg!(not(target_vendor = "apple"))) {
        lowered.push((Resource::AS, "memory", memory));
    }
    for (limit, resource, maximum) in lowered {
        let failed = |error| Error::Limit { resource, error };
        let (_, hard) = limit.get().map_err(failed)?;
        // At the soft CPU limit the process gets a signal of its own, SIGXCPU; at the hard limit it is just
        // killed.
        let hard_limit = maximum.saturating_add(u64::from(limit == Resource::CPU));
        limit
            .set(maximum.min(hard), hard_limit.min(hard))
            .map_err(failed)?;
    }
    Ok(())
}

/// Does nothing on Windows, where the parent must enforce the limits.
#[cfg(not(unix))]
pub fn lower(_rules: &Rules) -> Result<(), Error> {
    Ok(())
}
