//! Printing to standard output and standard error.
//!
//! `println!` panics on a closed pipe or a full disk; these functions return an error. Text from students is
//! escaped, so that it cannot control the terminal: see [`visible`].

use std::io::{self, ErrorKind, Write as _};

use anyhow::{Error, Result};
use chapter::lang::tr;
use common::error::note;
use serde::Serialize;

use crate::text::{escaped, visible};

/// Standard output was closed by its reader, as in `exercises list | head -1`. The program then exits
/// silently, as the reader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output was closed")]
pub struct BrokenPipe;

impl BrokenPipe {
    /// The exit code, distinct from that of a pass: the one that shells report for a program ended by SIGPIPE.
    /// SIGPIPE.
    pub const EXIT_CODE: u8 = 141;
}

/// The exit code when a submission could not be graded: bad flags, unreadable files, no compiler.
pub const EXIT_NOT_GRADED: u8 = 2;

/// Prints a text without adding a line break.
///
/// # Errors
///
/// Fails with [`BrokenPipe`] if the output was closed, or with the write error.
pub fn text(text: &str) -> Result<()> {
    write(visible(text).as_bytes())
}

/// Prints a text followed by a line break.
///
/// # Errors
///
/// Fails as [`text()`] does.
pub fn line(line: impl AsRef<str>) -> Result<()> {
    text(&format!("{}\n", line.as_ref()))
}

/// Prints a record as JSON.
///
/// # Errors
///
/// Fails as [`text()`] does.
pub fn json(record: &impl Serialize) -> Result<()> {
    write(as_json(record)?.as_bytes())
}

/// Formats a record as JSON followed by a line break, with all control characters escaped.
///
/// # Errors
///
/// Fails if the record cannot be represented in JSON.
pub fn as_json(record: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(record)?;
    // Unescaped control characters can only be inside strings, where a `\u` escape is valid.
    let escaped = escaped(&text, &['\n'], |character, to| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            to.push_str(&format!("\\u{unit:04x}"));
        }
    });
    Ok(format!("{escaped}\n"))
}

/// Prints an error or a warning to standard error, ignoring a closed pipe.
pub fn print_error(error: &Error) {
    let message = crate::error::format_error(error, chapter::lang::Lang::current());
    note(visible(&format!("{}{message}", tr("error: ", "错误："))));
}

/// Converts the result of printing.
///
/// # Errors
///
/// Fails with [`BrokenPipe`] if the output was closed, or with the write error.
pub fn convert(printed: io::Result<()>) -> Result<()> {
    printed.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => BrokenPipe.into(),
        _ => Error::new(error).context(tr("cannot write the output", "无法写出结果")),
    })
}

fn write(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    convert(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_valid_without_control_characters() {
        let record = ["\u{1b}[2J\u{9b}2J", "\u{202e}\t\n", "\u{7f}\u{e0001} ✓"];
        let text = as_json(&record).unwrap();
        assert_eq!(serde_json::from_str::<[String; 3]>(&text).unwrap(), record);
        assert!(text.contains("\\u001b[2J\\u009b2J"), "{text}");
        assert!(text.contains("\\u202e"), "{text}");
        assert!(text.contains("\\u007f\\udb40\\udc01 ✓"), "{text}");
        assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
    }

    #[test]
    fn broken_pipes_are_distinguished_from_other_errors() {
        let error = |kind| convert(Err(io::Error::from(kind))).unwrap_err();
        assert!(error(ErrorKind::BrokenPipe).is::<BrokenPipe>());
        let full = error(ErrorKind::StorageFull);
        assert!(!full.is::<BrokenPipe>());
        assert!(full.to_string().contains("cannot write"), "{full}");
    }
}
