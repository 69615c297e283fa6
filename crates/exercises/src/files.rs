//! The student's files.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use chapter::file;

use crate::lang::Lang;

/// Writes a text to a file, whole or not at all: see [`file::write`].
///
/// # Errors
///
/// Where it cannot be written; what was there then still is.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    let written: io::Result<()> = file::write(path, |file| file.write_all(text.as_bytes()));
    written.with_context(|| {
        say!(
            Lang::chosen(),
            "cannot write {}",
            "无法写入 {}";
            path.display()
        )
    })
}
