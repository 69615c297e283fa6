//! How far a student is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::files::write_whole;
use crate::folder::shown;
use crate::lang::Lang;

/// How far a student is: a small file in the student's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The exercises whose answer passed when it was last graded, by name.
    #[serde(default)]
    pub passed: BTreeSet<String>,
    /// How many hints were shown, of each exercise.
    #[serde(default)]
    pub hints: BTreeMap<String, usize>,
}

impl Progress {
    /// The file's name.
    pub const FILE: &str = "progress.json";

    /// The name of the file that is locked while it is changed. (The one above is another after each
    /// change.)
    const LOCK: &str = ".progress.lock";

    /// Reads it; a student who has none is at the beginning.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is no such file.
    pub fn read(path: &Path, lang: Lang) -> Result<Progress> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Progress::default()),
            Err(error) => return Err(error).with_context(|| shown(path)),
        };
        serde_json::from_str(&text).with_context(|| {
            say!(
                lang,
                "{} is damaged: delete it, and `check --all` finds out again how far you are",
                "{} 已损坏：请删除它，再用 `check --all` 重新统计进度";
                shown(path)
            )
        })
    }

    /// Reads it, changes it and writes it, while nobody else does.
    ///
    /// # Errors
    ///
    /// As [`Progress::read`], and where it cannot be written.
    pub fn change(path: &Path, lang: Lang, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        let lock = path.with_file_name(Progress::LOCK);
        let _alone = alone(&lock).with_context(|| shown(&lock))?;
        let mut progress = Progress::read(path, lang)?;
        change(&mut progress);
        let text = serde_json::to_string_pretty(&progress)?;
        write_whole(path, &format!("{text}\n"))?;
        Ok(progress)
    }

    /// Whether the answer to this exercise passed.
    pub fn has(&self, exercise: &Exercise) -> bool {
        self.passed.contains(exercise.name)
    }

    /// How the answer to an exercise was graded.
    pub fn set(&mut self, exercise: &Exercise, passed: bool) {
        if passed {
            self.passed.insert(exercise.name.to_owned());
        } else {
            self.passed.remove(exercise.name);
        }
    }

    /// Notes that one more hint of an exercise is shown, if it has one; how many of them are.
    pub fn one_more_hint(&mut self, exercise: &Exercise, all: usize) -> usize {
        let shown = self.hints.entry(exercise.name.to_owned()).or_default();
        *shown = (*shown + 1).min(all);
        *shown
    }

    /// The first exercise that has not passed.
    pub fn next(&self) -> Option<&'static Exercise> {
        EXERCISES.iter().find(|exercise| !self.has(exercise))
    }

    /// How many have.
    pub fn count(&self) -> usize {
        EXERCISES
            .iter()
            .filter(|exercise| self.has(exercise))
            .count()
    }
}

/// Waits until nobody else has this lock; it is given back with the value.
fn alone(lock: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock)?;
    match file.lock() {
        // Some network folders have no locks: two checks at once may lose one's result there.
        Err(error) if error.kind() == ErrorKind::Unsupported => {}
        locked => locked?,
    }
    Ok(file)
}
