//! Reading and atomic writing of students' files, and their names in messages.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use chapter::file::{self, AtomicFile};
use chapter::interrupt;
use chapter::lang::{Lang, tr};

use crate::text::in_a_line;

/// The maximum size of a submission in bytes, about a hundred times that of the course's files.
const MAX_BYTES: u64 = 256 << 10;

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

/// Formats a path for messages in one line, relative to the current directory if it is below it.
pub fn display_path(path: &Path) -> String {
    let working_folder = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&working_folder).unwrap_or(path);
    in_a_line(&relative.display().to_string()).into_owned()
}

/// Reads a text of the course in `folder`.
///
/// # Errors
///
/// Fails as [`read_text`] does, and if the file is a symbolic link that leads out of the folder.
pub fn read_course_text(folder: &Path, path: &Path, lang: Lang) -> Result<String> {
    let real = |path: &Path| fs::canonicalize(path).with_context(|| display_path(path));
    anyhow::ensure!(
        real(path)?.starts_with(real(folder)?),
        localize!(
            lang,
            "{} is a symbolic link to a file outside {}: copy the file to the course",
            "{} 是指向 {} 之外的符号链接：请把文件复制到课程中";
            display_path(path), display_path(folder)
        )
    );
    read_text(path, &display_path(path), lang)
}

/// Reads the text of a submission, whose file is called `named` in messages.
///
/// # Errors
///
/// Fails if the file cannot be read, is not UTF-8, or is too long.
pub fn read_text(path: &Path, named: &str, lang: Lang) -> Result<String> {
    let named = || named.to_owned();
    let file = File::open(path).with_context(named)?;
    let mut bytes = Vec::new();
    // Limit the length, because a device file may be endless.
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.with_context(named)?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_BYTES,
        localize!(
            lang,
            "{} is too long: a submission has at most {} bytes",
            "{} 过长：答案最多 {} 字节";
            named(), MAX_BYTES
        )
    );
    String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(localize!(
            lang,
            "{} is not valid UTF-8: save it in that encoding",
            "{} 不是 UTF-8 编码的文本：请以 UTF-8 编码保存";
            named()
        ))
    })
}
