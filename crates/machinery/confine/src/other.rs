//! Systems where a process cannot give up rights for good, by means that are the same on all of them.

use std::env::consts::{ARCH, OS};

use crate::{Error, Rules};

/// What this system cannot keep from a program.
pub fn missing() -> Option<String> {
    Some(format!(
        "on {OS} ({ARCH}) a program's files, network and processes cannot be restricted"
    ))
}

/// Nothing beyond the limits.
pub fn confine(_rules: &Rules) -> Result<(), Error> {
    Ok(())
}
