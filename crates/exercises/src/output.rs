//! All that the program prints.
//!
//! `println!` panics where nobody reads or the disk is full; these say so with an error. And what students
//! wrote is shown, not obeyed: see [`visible`].

use std::io::{self, ErrorKind, Write as _};

use anyhow::{Error, Result};
use common::error::note;
use serde::Serialize;

use crate::lang::tr;
use crate::text::{escaped, visible};

/// Nobody reads standard output any more, as with `exercises list | head -1`. The program ends then and
/// says nothing, for that is what whoever closed it wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody reads the output")]
pub struct Unread;

impl Unread {
    /// The exit code, which nobody can take for a pass: what a shell reports for a program that the
    /// system ended for that reason.
    pub const CODE: u8 = 141;
}

/// Prints a text as it is, with the end of line that it may have.
///
/// # Errors
///
/// [`Unread`], or why it cannot be written.
pub fn text(text: &str) -> Result<()> {
    written(visible(text).as_bytes())
}

/// Prints a line, or some.
///
/// # Errors
///
/// As [`text`].
pub fn line(line: impl AsRef<str>) -> Result<()> {
    text(&format!("{}\n", line.as_ref()))
}

/// Prints a record.
///
/// # Errors
///
/// As [`text`].
pub fn json(record: &impl Serialize) -> Result<()> {
    written(as_json(record)?.as_bytes())
}

/// A record as JSON, with an end of line. Of characters that a terminal obeys there are none in it.
///
/// # Errors
///
/// Where it has no form in JSON.
pub fn as_json(record: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(record)?;
    // What is to be escaped and is not yet can only be in a string of it.
    let escaped = escaped(&text, &['\n'], |character, to| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            to.push_str(&format!("\\u{unit:04x}"));
        }
    });
    Ok(format!("{escaped}\n"))
}

/// Prints an error, or a warning, to standard error. That nobody reads it is no failure.
pub fn complain(error: &Error) {
    let why = crate::error::in_words(error, crate::lang::Lang::chosen());
    note(visible(&format!("{}{why}", tr("error: ", "错误："))));
}

/// What came of printing, in words.
///
/// # Errors
///
/// [`Unread`], or why it could not be written.
pub fn checked(printed: io::Result<()>) -> Result<()> {
    printed.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Unread.into(),
        _ => Error::new(error).context(tr("cannot write the output", "无法写出结果")),
    })
}

fn written(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    checked(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_has_nothing_that_a_terminal_obeys() {
        let record = ["\u{1b}[2J\u{9b}2J", "\u{202e}\t\n", "\u{7f}\u{e0001} ✓"];
        let text = as_json(&record).unwrap();
        assert_eq!(serde_json::from_str::<[String; 3]>(&text).unwrap(), record);
        assert!(text.contains("\\u001b[2J\\u009b2J"), "{text}");
        assert!(text.contains("\\u202e"), "{text}");
        assert!(text.contains("\\u007f\\udb40\\udc01 ✓"), "{text}");
        assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
    }

    #[test]
    fn a_closed_pipe_is_told_from_other_errors() {
        let error = |kind| checked(Err(io::Error::from(kind))).unwrap_err();
        assert!(error(ErrorKind::BrokenPipe).is::<Unread>());
        let full = error(ErrorKind::StorageFull);
        assert!(!full.is::<Unread>());
        assert!(full.to_string().contains("cannot write"), "{full}");
    }
}
