//! Confinement on Linux: files by Landlock, system calls by seccomp.

mod calls;
mod files;
mod filter;

use crate::{Error, Rules};

/// Returns the reason if this system cannot enforce all rules.
pub fn unsupported_reason() -> Option<String> {
    if !files::available() {
        return Some(
            "this Linux has no Landlock (it needs version 5.13, and `landlock` in the kernel's \
             `lsm=`): a program's files cannot be restricted"
                .to_owned(),
        );
    }
    filter::unsupported_reason()
}

/// Restricts the files and system calls of this process.
pub fn confine(rules: &Rules) -> Result<(), Error> {
    if files::available() {
        files::restrict(rules).map_err(|error| Error::System(format!("Landlock: {error}")))?;
    }
    if filter::unsupported_reason().is_none() {
        filter::restrict(rules.processes)
            .map_err(|error| Error::System(format!("seccomp: {error}")))?;
    }
    Ok(())
}
