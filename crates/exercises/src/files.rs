//! The student's files.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use chapter::file::{self, Draft};
use chapter::interrupt;

use crate::folder::shown;
use crate::lang::tr;

/// Writes a text to a file, whole or not at all: see [`file::write`].
///
/// # Errors
///
/// Where it cannot be written; what was there then still is.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    let written: io::Result<()> = file::write(path, |file| file.write_all(text.as_bytes()));
    written.with_context(|| cannot_write(path))
}

/// Writes a text to a file that is not there yet, whole or not at all. One that somebody else makes
/// meanwhile stays as it is.
///
/// # Errors
///
/// Where it cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    let _whole = interrupt::hold();
    let draft = Draft::new::<io::Error>(path, |file| file.write_all(text.as_bytes()));
    match draft.and_then(Draft::put_new) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => written.with_context(|| cannot_write(path)),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("{} {}", tr("cannot write", "无法写入"), shown(path))
}
