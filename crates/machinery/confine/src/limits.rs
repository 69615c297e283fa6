//! A process lowers its own limits; what it starts inherits them.

use crate::{Error, Rules};

/// Lowers this process's limits to the rules', for good, and confines it in no other way.
///
/// # Errors
///
/// Where the system does not lower one.
#[cfg(unix)]
pub fn lower(rules: &Rules) -> Result<(), Error> {
    use rlimit::Resource;

    let mut lowered = vec![
        (Resource::CPU, "computing time", rules.computing),
        (Resource::FSIZE, "the length of a file", rules.file),
        (Resource::CORE, "what a crash leaves", 0),
    ];
    // macOS has no limit on memory that it keeps.
    if let Some(memory) = rules.memory.filter(|_| cfg!(not(target_vendor = "apple"))) {
        lowered.push((Resource::AS, "memory", memory));
    }
    for (resource, what, most) in lowered {
        let failed = |why| Error::Limit { what, why };
        let (_, hard) = resource.get().map_err(failed)?;
        // At the first of both a process is told why it ends, at the second it is just ended.
        let last = most.saturating_add(u64::from(resource == Resource::CPU));
        resource
            .set(most.min(hard), last.min(hard))
            .map_err(failed)?;
    }
    Ok(())
}

/// On Windows whoever starts it has to end it.
#[cfg(not(unix))]
pub fn lower(_rules: &Rules) -> Result<(), Error> {
    Ok(())
}
