//! Files that are there whole, or not at all.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use common::interrupt;
use tempfile::NamedTempFile;

use crate::lang::Lang;

/// Writes a text to a file: beside it first, then in its place, so that nobody finds half of it.
///
/// # Errors
///
/// Where it cannot be written; what was there then still is.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    let _whole = interrupt::hold();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> Result<()> {
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        allow_reading(&file)?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| {
        say!(
            Lang::chosen(),
            "cannot write {}",
            "无法写入 {}";
            path.display()
        )
    })
}

/// A temporary file is for its owner alone; these are files like others.
#[cfg(unix)]
fn allow_reading(file: &NamedTempFile) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(0o644);
    Ok(file.as_file().set_permissions(permissions)?)
}

#[cfg(not(unix))]
fn allow_reading(_file: &NamedTempFile) -> Result<()> {
    Ok(())
}
