//! How far a student is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::files::write_whole;
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

    /// Reads it; a student who has none is at the beginning.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is no such file.
    pub fn read(path: &Path, lang: Lang) -> Result<Progress> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Progress::default()),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        serde_json::from_str(&text).with_context(|| {
            say!(
                lang,
                "{} is damaged: delete it, and `check --all` finds out again how far you are",
                "{} 已损坏：请删除它，再用 `check --all` 重新统计进度";
                path.display()
            )
        })
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, &format!("{}\n", serde_json::to_string_pretty(self)?))
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
