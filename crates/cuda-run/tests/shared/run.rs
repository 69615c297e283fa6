//! The output of the real binary, shared by both test suites.

use std::path::Path;
use std::process::Output;

/// The output and exit status of a run. The status is -1 after a signal.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

impl Run {
    /// Describes the first difference from this exit status and these texts in standard error; `None` if all
    /// match.
    pub fn mismatch(&self, code: i32, texts: &[&str]) -> Option<String> {
        if self.code != code {
            return Some(format!("exit status {}, not {code}: {self:#?}", self.code));
        }
        let absent = texts.iter().find(|texts| !self.stderr.contains(**texts))?;
        Some(format!("'{absent}' is not in {self:#?}"))
    }
}

/// Asserts that this directory is empty.
#[track_caller]
pub fn assert_empty(directory: &Path) {
    let entries = std::fs::read_dir(directory).expect("a folder").flatten();
    let entries: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    assert!(entries.is_empty(), "left behind: {entries:?}");
}
