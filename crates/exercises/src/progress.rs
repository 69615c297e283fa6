//! A student's progress: the exercises passed and the hints shown, stored in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::files::write_whole;
use crate::lang::Lang;
use crate::workspace::display_path;

/// A student's progress, stored in a small file in the student's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The names of the exercises whose submission passed when last graded.
    #[serde(default)]
    pub passed: BTreeSet<String>,
    /// The number of hints shown, by exercise.
    #[serde(default)]
    pub hints: BTreeMap<String, usize>,
}

impl Progress {
    /// The name of the file.
    pub const FILE: &str = "progress.json";

    /// The name of the lock file. The file itself cannot be locked, because every change replaces it.
    const LOCK: &str = ".progress.lock";

    /// Reads the progress; a missing file means no progress yet.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is invalid.
    pub fn read(path: &Path, lang: Lang) -> Result<Progress> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Progress::default()),
            Err(error) => return Err(error).with_context(|| display_path(path)),
        };
        serde_json::from_str(&text).with_context(|| {
            localize!(
                lang,
                "{} is damaged: delete it, then run `check --all` to determine your progress again",
                "{} 已损坏：请删除它，再运行 `check --all` 重新统计进度";
                display_path(path)
            )
        })
    }

    /// Reads, changes and writes the progress under a lock.
    ///
    /// # Errors
    ///
    /// Fails as [`Progress::read`] does, or if the file cannot be written.
    pub fn change(path: &Path, lang: Lang, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        let lock = path.with_file_name(Progress::LOCK);
        let _alone = lock_exclusively(&lock).with_context(|| display_path(&lock))?;
        let mut progress = Progress::read(path, lang)?;
        change(&mut progress);
        let text = serde_json::to_string_pretty(&progress)?;
        write_whole(path, &format!("{text}\n"))?;
        Ok(progress)
    }

    /// Returns true if the exercise has passed.
    pub fn has_passed(&self, exercise: &Exercise) -> bool {
        self.passed.contains(exercise.name)
    }

    /// Records whether the exercise passed.
    pub fn set_passed(&mut self, exercise: &Exercise, passed: bool) {
        if passed {
            self.passed.insert(exercise.name.to_owned());
        } else {
            self.passed.remove(exercise.name);
        }
    }

    /// Records that one more hint is shown, up to `all`. Returns the number of hints shown.
    pub fn reveal_hint(&mut self, exercise: &Exercise, all: usize) -> usize {
        let revealed = self.hints.entry(exercise.name.to_owned()).or_default();
        *revealed = (*revealed + 1).min(all);
        *revealed
    }

    /// Returns the first exercise that has not passed.
    pub fn next(&self) -> Option<&'static Exercise> {
        EXERCISES.iter().find(|exercise| !self.has_passed(exercise))
    }

    /// Returns the number of exercises that have passed.
    pub fn passed_count(&self) -> usize {
        EXERCISES
            .iter()
            .filter(|exercise| self.has_passed(exercise))
            .count()
    }
}

/// Waits for the lock, which is released when the returned file is dropped.
fn lock_exclusively(lock: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock)?;
    match file.lock() {
        // Some network file systems have no locks; concurrent checks may lose a result there.
        Err(error) if error.kind() == ErrorKind::Unsupported => {}
        locked => locked?,
    }
    Ok(file)
}
