//! Systems without a portable way for a process to give up its rights permanently.

use std::env::consts::{ARCH, OS};

use crate::{Error, Rules};

/// Returns the reason why this system cannot enforce all rules.
pub fn unsupported_reason() -> Option<String> {
    Some(format!(
        "on {OS} ({ARCH}) a program's files, network and processes cannot be restricted"
    ))
}

/// Does nothing; only the resource limits apply.
pub fn confine(_rules: &Rules) -> Result<(), Error> {
    Ok(())
}
