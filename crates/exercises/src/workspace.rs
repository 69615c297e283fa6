//! The student's folder: one file per exercise, and the progress.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use chapter::file;
use chapter::lang::Lang;
use serde::{Deserialize, Serialize};

use crate::course::{Course, Exercise, tree};
use crate::files::{display_path, write_new, write_whole};

/// The flags that editors' clangd compiles submissions with, one per line; the include path is appended.
const EDITOR_FLAGS: &str =
    "-xcuda\n--cuda-device-only\n--cuda-gpu-arch=sm_52\n-nocudainc\n-nocudalib\n";

/// The student's folder.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder's path.
    pub path: PathBuf,
}

impl Workspace {
    /// Opens the folder at `path`; by default `exercises` in the root of the checkout, or in the current folder if
    /// the course is installed; for a teacher's course, a subfolder of that. Creates the folder and missing start files.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created or written to.
    pub fn open(course: &Course, path: Option<&Path>) -> Result<Workspace> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => {
                let parent = match file::prefix() {
                    Some(_) => PathBuf::new(),
                    None => tree()?.root().to_owned(),
                };
                let default = parent.join("exercises");
                match course.folder().and_then(Path::file_name) {
                    Some(name) => default.join(name),
                    None => default,
                }
            }
        };
        fs::create_dir_all(&path).with_context(|| display_path(&path))?;
        let workspace = Workspace { path };
        workspace.write_editor_flags();
        for exercise in &course.exercises {
            let file = workspace.file(exercise);
            if !file.exists() {
                write_new(&file, exercise.start())?;
            }
        }
        Ok(workspace)
    }

    /// Writes `compile_flags.txt` for clangd, which most editors use: clang's flags and the path of the
    /// course's headers. Without it, editors mark every kernel as erroneous. A file with other contents is
    /// left unchanged, and errors are ignored because the file is optional.
    fn write_editor_flags(&self) {
        let Ok(tree) = tree() else {
            return;
        };
        let file = self.path.join("compile_flags.txt");
        let headers = tree.root().join("kernels");
        let text = format!("{}-I{}\n", EDITOR_FLAGS, headers.display());
        match fs::read_to_string(&file) {
            Ok(existing) if existing == text || !existing.starts_with(EDITOR_FLAGS) => {}
            // The checkout has moved, so the include path is outdated.
            Ok(_) => drop(write_whole(&file, &text)),
            Err(_) => drop(write_new(&file, &text)),
        }
    }

    /// Returns the path of the submission to an exercise.
    pub fn file(&self, exercise: &Exercise) -> PathBuf {
        self.path.join(exercise.file())
    }

    /// Returns the path of the submission for messages, relative to the current directory if possible.
    pub fn display_path(&self, exercise: &Exercise) -> String {
        display_path(&self.file(exercise))
    }

    /// Reads the student's progress.
    ///
    /// # Errors
    ///
    /// Fails as [`Progress::read`] does.
    pub fn progress(&self, lang: Lang) -> Result<Progress> {
        Progress::read(&self.path.join(Progress::FILE), lang)
    }

    /// Changes and saves the progress without losing the changes of concurrent commands.
    ///
    /// # Errors
    ///
    /// Fails as [`Progress::change`] does.
    pub fn change(&self, lang: Lang, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        Progress::change(&self.path.join(Progress::FILE), lang, change)
    }

    /// Restores the start file. Returns the new, unused name under which the previous contents are saved;
    /// `None` if the file was missing or unchanged.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written.
    pub fn reset(&self, exercise: &Exercise) -> Result<Option<PathBuf>> {
        let file = self.file(exercise);
        if fs::read(&file).is_ok_and(|text| text == exercise.start().as_bytes()) {
            return Ok(None);
        }
        let backup = unused_path(&file.with_file_name(format!("{}.old", exercise.file())));
        let saved = match fs::rename(&file, &backup) {
            Ok(()) => Some(backup),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| display_path(&backup)),
        };
        write_whole(&file, exercise.start())?;
        Ok(saved)
    }
}

/// Returns this path if it is unused, otherwise the first unused one with a number appended.
fn unused_path(path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    let mut names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    let unused_path = names.find(|name| fs::symlink_metadata(name).is_err());
    unused_path.unwrap_or_else(|| path.to_owned())
}

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
        self.passed.contains(exercise.name())
    }

    /// Records whether the exercise passed.
    pub fn set_passed(&mut self, exercise: &Exercise, passed: bool) {
        if passed {
            self.passed.insert(exercise.name().to_owned());
        } else {
            self.passed.remove(exercise.name());
        }
    }

    /// Records that one more hint is shown, up to `all`. Returns the number of hints shown.
    pub fn reveal_hint(&mut self, exercise: &Exercise, all: usize) -> usize {
        let revealed = self.hints.entry(exercise.name().to_owned()).or_default();
        *revealed = (*revealed + 1).min(all);
        *revealed
    }

    /// Returns the first exercise of the course that has not passed.
    pub fn next<'a>(&self, course: &'a Course) -> Option<&'a Exercise> {
        let mut exercises = course.exercises.iter();
        exercises.find(|exercise| !self.has_passed(exercise))
    }

    /// Returns the number of exercises of the course that have passed.
    pub fn passed_count(&self, course: &Course) -> usize {
        course
            .exercises
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
