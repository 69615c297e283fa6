//! What a run of the real binary printed, for both of cuda-run's sets of tests.

use std::path::Path;
use std::process::Output;

/// What a run printed, and its exit status; -1 after a signal.
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
    /// What is not as it has to be: this exit status, and these words on standard error.
    pub fn lacks(&self, code: i32, words: &[&str]) -> Option<String> {
        if self.code != code {
            return Some(format!("exit status {}, not {code}: {self:#?}", self.code));
        }
        let missing = words.iter().find(|words| !self.stderr.contains(**words))?;
        Some(format!("'{missing}' is not in {self:#?}"))
    }
}

/// Looks that nothing temporary is left in this folder.
#[track_caller]
pub fn nothing_is_left(folder: &Path) {
    let left = std::fs::read_dir(folder).expect("a folder").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
