//! A process lowers its own limits; the compilers that it starts inherit them.

use anyhow::Result;

use super::job::Limits;

/// Lowers them for good.
#[cfg(unix)]
pub fn lower(limits: &Limits) -> Result<()> {
    use anyhow::Context as _;
    use rlimit::Resource;

    /// The longest file: an executable of a hosted exercise, with what it is linked from.
    const FILE: u64 = 512 << 20;

    // NVIDIA's driver reserves hundreds of gigabytes of addresses, and macOS has no limit on them that it
    // keeps.
    let mut lowered = vec![
        (Resource::CPU, limits.computing),
        (Resource::FSIZE, FILE),
        (Resource::CORE, 0),
    ];
    if cfg!(not(target_vendor = "apple")) && !super::on_gpu() {
        lowered.push((Resource::AS, limits.memory));
    }
    for (resource, most) in lowered {
        let (_, hard) = resource.get()?;
        // At the first of both a process is told why it ends, at the second it is just ended.
        let last = most.saturating_add(u64::from(resource == Resource::CPU));
        resource
            .set(most.min(hard), last.min(hard))
            .with_context(|| format!("cannot lower the limit {resource:?}"))?;
    }
    Ok(())
}

/// On Windows only the time is limited: whoever supervises ends the job.
#[cfg(not(unix))]
pub fn lower(_limits: &Limits) -> Result<()> {
    Ok(())
}
