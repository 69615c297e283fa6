//! The student's folder: a file for each exercise, and how far the student is.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use kernel_build::Tree;

use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::files::write_whole;
use crate::lang::Lang;
use crate::progress::Progress;

/// The longest answer that is read. Those of the course have a hundredth of it.
const LONGEST: u64 = 256 << 10;

/// The student's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
}

impl Folder {
    /// The one at `path`, or else `exercises` in the checkout's root. It is made, with the start files
    /// that are not there yet.
    ///
    /// # Errors
    ///
    /// Where it cannot be made or written to.
    pub fn open(path: Option<&Path>) -> Result<Folder> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?
                .root()
                .join("exercises"),
        };
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let folder = Folder { path };
        for exercise in &EXERCISES {
            let file = folder.file(exercise);
            if !file.exists() {
                write_whole(&file, exercise.start)?;
            }
        }
        Ok(folder)
    }

    /// Where the answer to an exercise is.
    pub fn file(&self, exercise: &Exercise) -> PathBuf {
        self.path.join(exercise.file())
    }

    /// The file in words: from where the student is, if that is shorter.
    pub fn shown(&self, exercise: &Exercise) -> String {
        shown(&self.file(exercise))
    }

    /// How far the student is.
    ///
    /// # Errors
    ///
    /// As [`Progress::read`].
    pub fn progress(&self, lang: Lang) -> Result<Progress> {
        Progress::read(&self.path.join(Progress::FILE), lang)
    }

    /// Keeps it.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn keep(&self, progress: &Progress) -> Result<()> {
        progress.write(&self.path.join(Progress::FILE))
    }

    /// Puts the start file back. What was there is kept beside it, under the name that is returned.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub fn reset(&self, exercise: &Exercise) -> Result<Option<PathBuf>> {
        let file = self.file(exercise);
        let old = file.with_file_name(format!("{}.old", exercise.file()));
        let kept = match fs::rename(&file, &old) {
            Ok(()) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| old.display().to_string()),
        };
        write_whole(&file, exercise.start)?;
        Ok(kept)
    }
}

/// A path in words: from where the program runs, if it is below.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    shown.display().to_string()
}

/// The text of an answer.
///
/// # Errors
///
/// Where it cannot be read, is no text, or is longer than any answer.
pub fn read(path: &Path, lang: Lang) -> Result<String> {
    let named = || shown(path);
    let length = fs::metadata(path).with_context(named)?.len();
    anyhow::ensure!(
        length <= LONGEST,
        say!(
            lang,
            "{} has {} bytes, and an answer at most {}",
            "{} 有 {} 字节，而答案最多 {} 字节";
            named(), length, LONGEST
        )
    );
    let bytes = fs::read(path).with_context(named)?;
    String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(say!(
            lang,
            "{} is no text in UTF-8: save it in that encoding",
            "{} 不是 UTF-8 编码的文本：请以 UTF-8 编码保存";
            named()
        ))
    })
}
