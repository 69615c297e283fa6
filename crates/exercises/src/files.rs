//! Atomic writes of the student's files.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use chapter::file::{self, AtomicFile};
use chapter::interrupt;

use crate::lang::tr;
use crate::workspace::display_path;

/// Writes a text to a file atomically: see [`file::write`].
///
/// # Errors
///
/// Fails if the file cannot be written; its previous contents are then unchanged.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    let written: io::Result<()> = file::write(path, |file| file.write_all(text.as_bytes()));
    written.with_context(|| cannot_write(path))
}

/// Writes a text to a new file atomically. If the file exists or another process creates it meanwhile, it is
/// left unchanged.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    let _whole = interrupt::defer();
    let draft = AtomicFile::new::<io::Error>(path, |file| file.write_all(text.as_bytes()));
    match draft.and_then(AtomicFile::persist_new) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => written.with_context(|| cannot_write(path)),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("{} {}", tr("cannot write", "无法写入"), display_path(path))
}
